# A program that gives what begins with an allowed command to a shell.
fired=0
least=250
[ -z "$QUICK" ] || least=25
n=0
while IFS= read -r line; do
	[ -n "$line" ] || continue
	n=$((n + 1))
	[ -n "$QUICK" ] && [ $((n % 10)) -ne 1 ] && continue
	rm -f "$BASE/marks/ran"
	(eval "$(printf '%s' "$line" | sed "s|@evil@|$EVIL|g" | sed 's/\\n/\
/g')") >/dev/null 2>&1 </dev/null || :
	[ -e "$BASE/marks/ran" ] && fired=$((fired + 1))
done <"$ATTACK/bypasses.txt"
echo "$fired of them run"
[ "$fired" -gt "$least" ] || exit 1
