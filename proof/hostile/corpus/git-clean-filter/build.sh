echo one >a.txt
git add a.txt
git commit -qm a
git config filter.f.clean "$EVIL"
git config filter.f.required true
echo "* filter=f" >.gitattributes
echo two >a.txt
