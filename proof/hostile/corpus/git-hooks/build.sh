echo one >a.txt
git add a.txt
git commit -qm a

for hook in post-index-change reference-transaction post-checkout pre-commit prepare-commit-msg commit-msg post-commit pre-auto-gc post-rewrite fsmonitor-watchman; do
	ln -sf "$EVIL" .git/hooks/$hook
done
mkdir ours
cp -P .git/hooks/* ours/
git config core.hooksPath "$PWD/ours"
echo two >a.txt
