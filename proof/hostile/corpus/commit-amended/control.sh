# What becomes of a yes that is the user's own.
"$JP" query --new -m "$MODEL" --policy defer Look. || :
"$JP" answer yes
"$JP" continue -m "$MODEL"
