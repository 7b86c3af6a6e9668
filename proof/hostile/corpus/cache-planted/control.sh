# A program that believes what stands there asks what the tool wrote.
mkdir -p .git/jp/drafts
echo FORGED >.git/jp/drafts/new.query
grep -q FORGED .git/jp/drafts/new.query && "$EVIL"
