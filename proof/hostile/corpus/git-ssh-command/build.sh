echo one >a.txt
git add a.txt
git commit -qm a
git config core.sshCommand "$EVIL"
git config core.gitProxy "$EVIL"
git remote add origin ssh://example.invalid/x
