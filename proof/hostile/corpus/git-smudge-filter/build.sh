echo one >a.txt
git add a.txt
git commit -qm a
git config filter.f.smudge "$EVIL"
echo "*.txt filter=f" >.gitattributes
git add .gitattributes
git commit -qm attributes
rm a.txt
