n=0
for word in "$(printf 'a\033]0;owned\007b')" "$(printf '\302\2332J\342\200\256')" "$(printf '@\033[2J')" "$(printf 'x\377y')"; do
	for c in show print log ls use archive unarchive rm fork attach wait kill verify blame diff undo restore edit continue discard ref models grep \
		"query -m" "query -t" "query --id" "query --fork" "query --cfg" "--cfg" "-C" "--format" "$(printf 'no\033[2J')" "config set" "config show" \
		"query -m script/" "edit --expires" "edit --label" "wait --for" "print --turn" "print --style" "query -r" "query -a"; do
		n=$((n + 1))
		[ -n "$QUICK" ] && [ $((n % 8)) -ne 1 ] && continue
		"$JP" $c "$word" </dev/null || :
		"$JP" --json $c "$word" </dev/null || :
	done
done
