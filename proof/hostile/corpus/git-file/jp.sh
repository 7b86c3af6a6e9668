cd sub
for c in status ls "diff --worktree" "query -m $MODEL --new -y Look."; do
	"$JP" $c || :
done
