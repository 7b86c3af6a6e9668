# A program that believes the first word.
fired=0
while IFS= read -r line; do
	rm -f "$BASE/marks/ran" wrote
	(eval "$(printf '%s' "$line" | sed "s|@evil@|$EVIL|g; s|-exec\(.*\) ;|-exec\1 \\\\;|; s|-execdir\(.*\) ;|-execdir\1 \\\\;|")") >/dev/null 2>&1 </dev/null || :
	if [ -e "$BASE/marks/ran" ] || [ -e wrote ]; then fired=$((fired + 1)); fi
done <"$ATTACK/lines.txt"
echo "$fired of them run"
[ "$fired" -gt 25 ] || exit 1
"$EVIL"
