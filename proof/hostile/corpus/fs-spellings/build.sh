echo bait >bait.txt
git add bait.txt
git commit -qm bait
mkdir -p sub .jp
echo "style.width = 80" >.jp/config.toml
ln -s .jp own
