# The user's other repository, where they allow a call that has not run yet.
git init -q "$BASE/own"
git -C "$BASE/own" commit -q --allow-empty -m first
"$JP" -C "$BASE/own" query --new -m "$MODEL" --policy defer Look. || :
"$JP" -C "$BASE/own" answer yes
git fetch -q "$BASE/own" 'refs/jp/conversations/*:refs/jp/conversations/*'
