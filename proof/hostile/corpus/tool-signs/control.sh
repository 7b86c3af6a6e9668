# A program that nothing confines.
"$JP" query --new -y --cfg sandbox.enable=false -m "$MODEL" Sign. >/dev/null 2>&1 || :
"$JP" print --json
