echo bait >bait.txt
git add bait.txt
git commit -qm bait
