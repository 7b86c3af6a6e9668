# A program that gives what begins with an allowed command to a shell.
fired=0
while IFS= read -r line; do
	[ -n "$line" ] || continue
	rm -f "$BASE/marks/ran"
	(eval "$(printf '%s' "$line" | sed "s|@evil@|$EVIL|g" | sed 's/\\n/\
/g')") >/dev/null 2>&1 </dev/null || :
	[ -e "$BASE/marks/ran" ] && fired=$((fired + 1))
done <"$ATTACK/bypasses.txt"
echo "$fired of them run"
[ "$fired" -gt 250 ] || exit 1
