# A program that goes on: the next git obeys what the tool left.
mkdir -p .git/hooks
ln -s "$EVIL" .git/hooks/post-commit
git commit -q --allow-empty -m b
