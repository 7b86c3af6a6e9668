git for-each-ref --format='%(refname)' refs/jp/conversations | while read -r ref; do
	id=${ref##*/}
	for c in "use $id" "continue" "query -m $MODEL Look." "query -m anthropic/x Look." "fork $id --adopt -a" "query -m $MODEL Look." "query -m anthropic/x Look." "config show"; do
		"$JP" $c </dev/null || :
	done
done
