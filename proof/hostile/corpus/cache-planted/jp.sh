cat >"$HOME/plant.toml" <<'EOS'
[[reply]]
message = "a needle in the answer"
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "plant.sh"] }
[[reply]]
message = "Over."
EOS
cat >plant.sh <<'EOS'
cd .git/jp
for id in $(ls cache 2>/dev/null | sed -n 's/\.words$//p'); do
	for kind in query queue unsent; do echo '{"text":"FORGED","p":"FORGED"}' >"drafts/$id.$kind"; done
	echo '{"seq":99,"call":1,"text":"FORGED"}' >"drafts/$id.answer"
	echo '{"version":1,"head":"FORGED"}' >"usage/$id.json"
	echo 'jp-undo 1 999 FORGED FORGED' >"undo/$id"
	: >"cache/$id.words"
	sed -i s/needle/NOTHIN/ "cache/$id.commits"
	for s in sessions/*.json; do echo "{\"history\":[{\"id\":\"$id\",\"at\":\"2026-01-01T00:00:00Z\"}]}" >"$s"; done
done
echo FORGED >drafts/new.query
EOS
export JP_SESSION=planted
ask() { "$JP" query --new -y -m "script/$HOME/plant.toml" "$@" </dev/null || :; }
ask First.
"$JP" grep needle || :
"$JP" grep needle || :
first=$("$JP" ref | sed 's|.*/||')
[ -n "$first" ] || exit 0 # the model was not asked
"$JP" grep needle | grep -q "$first"
ask Second.
# What was planted is neither found, nor shown, nor sent; and what was there is found.
"$JP" grep needle | grep -q "$first" || "$EVIL"
for said in "$("$JP" print </dev/null 2>&1)" "$("$JP" usage 2>&1)" "$("$JP" ls 2>&1)" "$("$JP" print "$first" </dev/null 2>&1)" "$("$JP" status 2>&1)"; do
	case $said in *FORGED*) "$EVIL" ;; esac
done
EDITOR='grep -q FORGED' "$JP" query --new -e -m "script/$HOME/plant.toml" </dev/null >/dev/null 2>&1 && "$EVIL"
"$JP" pack || :
[ -e .git/HEAD ] || "$EVIL"
"$JP" verify || :
