"$JP" query --new -m "$MODEL" Look. </dev/null >/dev/null 2>&1 || :
"$JP" print --json
"$JP" version -v | grep -q landlock || exit 0
"$JP" log | grep -q 'only reads'
