echo one >a.txt
git add a.txt
git commit -qm a
git config extensions.worktreeConfig true
git config --worktree core.fsmonitor "$EVIL"
git config --worktree filter.f.clean "$EVIL"
echo "* filter=f" >.gitattributes
echo two >a.txt
