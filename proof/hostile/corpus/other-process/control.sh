# A program without rules.
sleep 60 &
victim=$!
sh ./reach.sh "$victim" 2>/dev/null
kill "$victim"
grep -q limit reached
"$EVIL"
