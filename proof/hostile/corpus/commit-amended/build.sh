"$JP" query --new -m "$MODEL" --policy defer Look. || :
"$JP" answer n
ref=$(git for-each-ref --format='%(refname)' refs/jp/conversations | head -n 1)
amended=$(git cat-file commit "$ref" | sed 's/^answer: no (user)$/answer: yes (user)/; s/^"skip"$/"run"/; s/"text":\[19,6\]/"text":[20,5]/' | git hash-object -t commit -w --stdin)
git cat-file commit "$amended" | grep -q '^"run"$'
git update-ref "$ref" "$amended"
