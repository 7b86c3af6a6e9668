printf "no such conversation: %s\n" "$(printf '\033]0;owned\007')"
