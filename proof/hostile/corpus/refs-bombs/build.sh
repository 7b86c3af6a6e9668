c=refs/jp/conversations
head=$(git rev-parse HEAD)
tree=$(git rev-parse HEAD^{tree})
commit() { git hash-object -t commit -w --stdin --literally; }
{ printf 'tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\njp-data {"v":1}\n\n' $tree $head; head -c 220000000 /dev/zero; } | commit | xargs git update-ref $c/jp-c17000000001-zero
{ printf 'tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\njp-data ' $tree $head; head -c 4000000 /dev/zero | tr '\0' '['; printf '\n\nx\n'; } | commit | xargs git update-ref $c/jp-c17000000001-deep
{ printf 'tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\njp-data {"v":1,"a":"' $tree $head; head -c 30000000 /dev/zero | tr '\0' 'x'; printf '"}\n\nx\n'; } | commit | xargs git update-ref $c/jp-c17000000001-line
