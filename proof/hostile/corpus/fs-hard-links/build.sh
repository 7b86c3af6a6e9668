echo bait >bait.txt
git add bait.txt
git commit -qm bait
ln "$OUTSIDE/secret" hard.txt
ln .git/config hardconfig
ln "$HOME/.gitconfig" homeconfig
