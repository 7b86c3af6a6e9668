"$JP" query --new -m "$MODEL" --policy defer Look. || :
"$JP" answer . run
ref=$(git for-each-ref --format='%(refname)' refs/jp/conversations | head -n 1)
allowed=$(git rev-parse "$ref")
"$JP" discard
git update-ref "$ref" "$allowed"
