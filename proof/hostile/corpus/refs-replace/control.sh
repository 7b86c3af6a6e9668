# A program that goes on: git shows what the tool forged.
forged=$(git commit-tree -m FORGED 'HEAD^{tree}')
git replace HEAD "$forged"
git log -1 --format=%s | grep -q FORGED
"$EVIL"
