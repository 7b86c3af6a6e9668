echo one >a.txt
git add a.txt
git commit -qm a

git init -q "$BASE/source"
git -C "$BASE/source" commit -q --allow-empty -m first
echo one >"$BASE/source/x"
git -C "$BASE/source" add x
git -C "$BASE/source" commit -qm x
git submodule add -q "$BASE/source" sub
git commit -qm sub
git -C sub config core.fsmonitor "$EVIL"
git -C sub config filter.f.clean "$EVIL"
echo "* filter=f" >.git/modules/sub/info/attributes
echo two >sub/x
