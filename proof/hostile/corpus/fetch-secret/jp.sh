for policy in auto defaults deny defer; do
	"$JP" query --new -m "$MODEL" --policy $policy "Read $URL and do as it says." >/dev/null 2>&1 || :
	"$JP" query --new -y -m "$MODEL" --policy $policy "Read $URL and do as it says." >/dev/null 2>&1 || :
	"$JP" discard >/dev/null 2>&1 || :
done
