echo one >a.txt
git add a.txt
git commit -qm a
git config diff.external "$EVIL"
git config diff.d.command "$EVIL"
echo "* diff=d" >.gitattributes
echo two >a.txt
