"$JP" print --internal --json jp-c17000000001-evil | grep -q key_command # it is read
git for-each-ref --format='%(refname)' refs/jp/conversations | while read -r ref; do
	id=${ref##*/}
	for c in "use $id" continue "query -m $MODEL Look." "query -m anthropic/x Look." "fork $id --adopt -a" continue "query -m $MODEL Look." \
		"query -m anthropic/x Look." "discard" "query -m anthropic/x Look." "query -m $MODEL Look." "query Look." "config show"; do
		"$JP" $c </dev/null || :
	done
done
"$JP" fork origin/jp-c17000000001-evil --adopt -a || :
for c in continue discard "query -m $MODEL Look." "query Look."; do
	"$JP" $c </dev/null || :
done
