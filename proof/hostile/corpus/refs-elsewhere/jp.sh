id=$(git for-each-ref --format='%(refname)' refs/jp/conversations | head -n 1)
id=${id##*/}
for c in "use $id" "continue $id" "continue" "query --id=$id Look." "discard $id" "fork $id -a" "continue" "fork $id --adopt -a" "continue"; do
	"$JP" $c </dev/null || :
done
