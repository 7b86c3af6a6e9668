rm -f wrote
"$JP" query --new -m "$MODEL" Look. </dev/null >/dev/null 2>&1 || :
[ ! -e wrote ] || "$EVIL" wrote
# Some of them do run.
"$JP" version -v | grep -q landlock || exit 0
"$JP" log | grep -q 'only reads'
