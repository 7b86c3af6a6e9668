echo one >a.txt
git add a.txt
git commit -qm a
