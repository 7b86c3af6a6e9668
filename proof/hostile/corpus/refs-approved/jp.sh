id=$(git for-each-ref --format='%(refname)' refs/jp/conversations | head -n 1)
id=${id##*/}
for c in "use $id" "continue $id" "continue" "answer $id yes" "answer yes" "query --id=$id" "discard $id" "undo $id -y" "fork $id -a" "continue" "answer yes" "fork origin/$id --adopt -a" "continue" "continue -y" "answer yes"; do
	"$JP" $c </dev/null || :
done
