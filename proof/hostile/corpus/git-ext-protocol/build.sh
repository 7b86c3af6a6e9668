echo one >a.txt
git add a.txt
git commit -qm a
git remote add origin "ext::$EVIL"
git config protocol.ext.allow always
git config branch.main.remote origin
