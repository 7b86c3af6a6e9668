cd docs
git status >/dev/null
