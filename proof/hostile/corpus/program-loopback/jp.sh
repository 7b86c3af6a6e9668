. "$ATTACK/service.sh"
cat >"$HOME/reach.toml" <<EOF
[[reply]]
message = "I reach."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["perl", "reach.pl", "$BASE/s", "$URL/loopback"] }
[[reply]]
message = "Over."
EOF
"$JP" query --new -y -m "script/$HOME/reach.toml" Go. </dev/null || :
perl end.pl "$BASE/s"
"$JP" version -v | grep -q 'own loopback' || exit 0
"$JP" print --tools | grep -q 'own service reached'
