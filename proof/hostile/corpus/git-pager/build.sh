echo one >a.txt
git add a.txt
git commit -qm a
git config core.pager "$EVIL"
for c in status log diff show branch; do git config pager.$c "$EVIL"; done
