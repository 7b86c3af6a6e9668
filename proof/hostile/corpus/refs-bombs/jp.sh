for id in zero deep line; do
	for c in show print log verify fork "query -m $MODEL --id"; do
		[ -n "$QUICK" ] && [ "$c" != print ] && continue
		timeout 20 "$JP" $c jp-c17000000001-$id </dev/null || [ $? -ne 124 ]
	done
done
timeout 20 "$JP" ls
timeout 20 "$JP" grep x || [ $? -ne 124 ]
