"$JP" query --new -y -m "$MODEL" Sign. </dev/null || :
"$JP" print --json
