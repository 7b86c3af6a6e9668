echo one >a.txt
git add a.txt
git commit -qm a
git config credential.helper "!$EVIL"
git config core.askPass "$EVIL"
git remote add origin https://example.invalid/x
