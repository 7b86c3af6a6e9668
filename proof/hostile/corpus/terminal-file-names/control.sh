find . -path ./.git -prune -o -print
