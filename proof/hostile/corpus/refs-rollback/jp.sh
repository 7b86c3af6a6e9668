id=$(git for-each-ref --format='%(refname)' refs/jp/conversations | head -n 1)
id=${id##*/}
for c in "use $id" "continue $id" "continue" "answer $id run" "query --id=$id" "discard $id" "undo $id" "verify $id" "trust --head $id" "continue -y"; do
	"$JP" $c </dev/null || :
done
