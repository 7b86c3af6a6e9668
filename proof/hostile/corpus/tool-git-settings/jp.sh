# Without walls: they would keep the hook from leaving its mark, and nothing would be tried.
cat >"$HOME/obeyed.toml" <<"EOF"
[[reply]]
message = "I make it ready."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "mkdir -p .git/hooks && ln -s \"$EVIL\" .git/hooks/post-commit"] }
[[reply]]
message = "I commit."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "b"] }
[[reply]]
message = "Over."
EOF
said=$("$JP" query --new -y --cfg sandbox.enable=false -m "script/$HOME/obeyed.toml" Go. </dev/null 2>&1) && code=0 || code=$?
echo "$said"
# The user looks at what the stopped turn names. A turn that went on has run the hook by now.
if [ "$code" = 3 ]; then
	case $said in *.git/hooks/post-commit*) rm .git/hooks/post-commit ;; esac
fi
"$JP" discard </dev/null
