echo one >a.txt
git add a.txt
git commit -qm a
git config core.fsmonitor "$EVIL"
echo two >a.txt
