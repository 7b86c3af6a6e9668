echo bait >bait.txt
ln -s "$OUTSIDE" out
ln -s "$OUTSIDE/secret" out.txt
ln -s ../../outside rel
ln -s rel chain
ln -s / root
ln -s .git innocent
ln -s /proc/self/root proc
mkdir sub
ln -s ../.git/config sub/c
ln -s "$HOME/.config" conf
git add .
git commit -qm links
