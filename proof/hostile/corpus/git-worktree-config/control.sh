git status >/dev/null
