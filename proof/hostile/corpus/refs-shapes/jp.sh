for id in blob tree head aaag looa loob aout link null long dddd twoo aevi; do
	id=jp-c17000000001-$id
	for c in show print log verify "fork --adopt" use continue discard "query -m $MODEL --id" "diff --turn all" "grep x" "restore -y @0" archive "rm -y"; do
		n=$((${n:-0} + 1))
		[ -n "$QUICK" ] && [ $((n % 6)) -ne 1 ] && continue
		timeout 20 "$JP" $c $id </dev/null || [ $? -ne 124 ]
	done
done
"$JP" fork origin/jp-c17000000001-aevi --adopt -a || :
"$JP" print origin/jp-c17000000001-aevi || :
"$JP" ls --remote
