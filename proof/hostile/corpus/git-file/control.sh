cd sub
git status >/dev/null
