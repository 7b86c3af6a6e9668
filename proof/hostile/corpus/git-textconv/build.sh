echo one >a.txt
git add a.txt
git commit -qm a
git config diff.d.textconv "$EVIL"
echo "* diff=d" >.gitattributes
echo two >a.txt
