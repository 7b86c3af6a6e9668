# What a repository does that takes the conversation for its own.
"$JP" -C "$BASE/own" continue -m "$MODEL"
