echo one >a.txt
git add a.txt
git commit -qm a
for c in status log diff st co snapshot; do git config alias.$c "!$EVIL"; done
