for c in status show log print "log --internal" ls; do "$JP" $c; done
git checkout -q -B other
"$JP" query -m "$MODEL" Again. || :
"$JP" query --new --json -m "$MODEL" Again. || :
