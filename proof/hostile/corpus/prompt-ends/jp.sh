"$JP" query --new -m "$MODEL" Look. </dev/null || :
"$JP" answer </dev/null || :
"$JP" continue </dev/null || :
yes | head -n 99 | "$JP" query --new -m "$MODEL" Look. || :
yes | head -n 99 | "$JP" continue || :
"$JP" continue </dev/null >/dev/null 2>&1 <&- || :
"$JP" query --new -m "$MODEL" Look. <&- >&- 2>&- || :
setsid "$JP" query --new -m "$MODEL" Look. </dev/null || :
env -u CI "$JP" query --new -m "$MODEL" --policy queue --cfg policy.timeout=1s Look. </dev/null || :
for answer in "" " " y Y yes true 1 run allow; do "$JP" answer jp-c1 "$answer" </dev/null || :; done
