"$JP" query --new --title "$(printf 't\033]0;owned\007\302\2332J\342\200\256')" -m "$MODEL" "$(printf '\033]0;owned\007\302\2332J\342\200\256')" || :
for c in ls status show print "print --style brief" log "ls --tree" "grep owned" "print --json" "ls --json" "show --json" "edit --title -m $MODEL" "grep --json owned"; do "$JP" $c || :; done
