git config user.name a
git config user.email a@b.c
echo one >a.txt
git add a.txt
git commit -qm a
# What a stranger's archive brings.
for folder in drafts sessions usage undo lists cache acp; do mkdir -p ".git/jp/$folder"; done
echo FORGED >.git/jp/drafts/new.query
echo '{"text":"FORGED","after":0}' >.git/jp/drafts/new.queue
echo '{"packs":[{"name":"../../HEAD","gone":true,"loose":true}],"left":99999}' >.git/jp/packing.json
echo '{"boot":"x","tree":"x"}' >.git/jp/index.json
printf 'jp-list 2\nFORGED' >.git/jp/lists/conversations
echo ../../.. >.git/jp/workspace-id
