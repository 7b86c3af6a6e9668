"$JP" skills || :
"$JP" skills release || :
"$JP" query --new --skill release -m "$MODEL" Look. || :
"$JP" query --new -y --skill release -m "$MODEL" Look. || :
"$JP" print --internal || :
"$JP" query --new --skill release -m anthropic/x Look. || :
