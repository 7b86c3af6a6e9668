git config user.name a
git config user.email a@b.c
echo one >a.txt
git add a.txt
git commit -qm a
