echo one >a.txt
git add a.txt
git commit -qm a
git config "filter.a=b.c.process" "$EVIL"
git config "filter.a=b.c.required" true
mkdir -p .git/info
echo "* filter=a=b.c" >.git/info/attributes
echo two >a.txt
