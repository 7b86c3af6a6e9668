cat >"$HOME/replace.toml" <<'EOF'
[[reply]]
message = "I forge."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "git replace -f HEAD $(git commit-tree -m FORGED 'HEAD^{tree}') && git pack-refs --all"] }
[[reply]]
message = "Over."
EOF
said=$("$JP" query --new -y -m "script/$HOME/replace.toml" Go. </dev/null 2>&1) && code=0 || code=$?
echo "$said"
# The user looks at what the stopped turn names.
if [ "$code" = 3 ]; then
	case $said in *refs/replace/*) git replace -d $(git replace) ;; esac
fi
"$JP" discard </dev/null || :
if git log -1 --format=%s | grep -q FORGED; then "$EVIL"; fi
