echo one >a.txt
git add a.txt
git commit -qm a

mkdir -p sub evilgit
cp -R .git evilgit/dir
rm -rf evilgit/dir/jp
git --git-dir evilgit/dir config core.fsmonitor "$EVIL"
git --git-dir evilgit/dir config core.worktree "$PWD/sub"
git --git-dir evilgit/dir config filter.f.clean "$EVIL"
echo "gitdir: ../evilgit/dir" >sub/.git
echo two >sub/a.txt
