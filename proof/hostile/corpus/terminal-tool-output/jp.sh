for c in diff "diff --json" "diff @9" "print --internal" "print --json" "blame copy.txt" "blame --json copy.txt" "grep owned" "log -p"; do "$JP" $c || :; done
