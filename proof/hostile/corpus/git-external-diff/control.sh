git diff >/dev/null
