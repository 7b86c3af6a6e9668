git config user.name a
git config user.email a@b.c
echo one >a.txt
git add a.txt
git commit -qm a
git checkout -q -b side
echo side >a.txt
git commit -qam side
git checkout -q -
echo main >a.txt
git commit -qam main
git checkout -q side
git rebase -q - >/dev/null 2>&1 || :
test -e .git/rebase-merge/git-rebase-todo
