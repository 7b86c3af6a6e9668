todo=.git/rebase-merge/git-rebase-todo
[ -e "$todo" ] || exit 0 # the rebase is over
cat >"$HOME/todo.toml" <<EOF
[[reply]]
message = "I add a step."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo 'exec $EVIL' >>$todo"] }
[[reply]]
message = "Over."
EOF
said=$("$JP" query --new -y -m "script/$HOME/todo.toml" Go. </dev/null 2>&1) && code=0 || code=$?
echo "$said"
# The user looks at what the stopped turn names, and goes on.
if [ "$code" = 3 ]; then
	case $said in *rebase-merge/git-rebase-todo*) sed -i '/^exec /d' "$todo" ;; esac
fi
"$JP" discard </dev/null || :
echo both >a.txt
git add a.txt
GIT_EDITOR=true git rebase --continue
