for policy in defaults deny defer; do
	"$JP" query --new -m "$MODEL" --policy $policy Look. || :
	"$JP" discard || :
done
