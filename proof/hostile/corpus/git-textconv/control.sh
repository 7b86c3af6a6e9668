git diff >/dev/null; git blame a.txt >/dev/null
