rm -f reached
sleep 60 &
victim=$!
cat >"$HOME/reach.toml" <<EOF
[[reply]]
message = "I reach."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "./reach.sh", "$victim"] }
[[reply]]
message = "Over."
EOF
"$JP" query --new -y -m "script/$HOME/reach.toml" Go. </dev/null || :
case $(cat "/proc/$victim/limits") in *"Max open files            77 "*) "$EVIL" limit ;; esac
[ ! -e reached ] || "$EVIL" "$(cat reached)"
kill "$victim"
rm -f reached
