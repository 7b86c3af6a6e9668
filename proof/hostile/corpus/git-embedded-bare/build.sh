echo one >a.txt
git add a.txt
git commit -qm a

git init -q --bare docs
git -C docs config core.bare false
git -C docs config core.worktree "$PWD"
git -C docs config core.fsmonitor "$EVIL"
echo x >docs/HEAD.txt
