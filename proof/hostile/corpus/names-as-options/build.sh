for name in --output=owned --no-index -O"$EVIL" --exec="$EVIL" -rf --upload-pack="$EVIL"; do
	mkdir -p ./"$(dirname -- "$name")"
	echo one >./"$name"
done
git add -- .
git commit -qm a
git update-ref "refs/heads/--output=branch" HEAD
git symbolic-ref HEAD "refs/heads/--output=branch"
for f in ./-*; do [ -f "$f" ] && echo two >"$f"; done
mkdir -p .git/info
