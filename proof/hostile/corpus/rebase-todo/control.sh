# A program that goes on after a tool has written the step.
echo "exec $EVIL" >>.git/rebase-merge/git-rebase-todo
echo both >a.txt
git add a.txt
GIT_EDITOR=true git rebase --continue
