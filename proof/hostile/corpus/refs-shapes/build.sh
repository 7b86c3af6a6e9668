c=refs/jp/conversations
blob=$(echo x | git hash-object -w --stdin)
head=$(git rev-parse HEAD)
tree=$(git rev-parse HEAD^{tree})
git update-ref $c/jp-c17000000001-blob $blob
git update-ref $c/jp-c17000000001-tree $tree
git update-ref $c/jp-c17000000001-head $head
printf 'object %s\ntype commit\ntag x\ntagger A <a@b> 1 +0000\n\nx\n' $head | git hash-object -t tag -w --stdin | xargs git update-ref $c/jp-c17000000001-aaag
mkdir -p .git/$c
echo "ref: $c/jp-c17000000001-loob" >.git/$c/jp-c17000000001-looa
echo "ref: $c/jp-c17000000001-looa" >.git/$c/jp-c17000000001-loob
echo "ref: ../../../../outside/secret" >.git/$c/jp-c17000000001-aout
ln -s "$OUTSIDE/secret" .git/$c/jp-c17000000001-link
: >.git/$c/jp-c17000000001-null
printf '%0100000d' 1 >.git/$c/jp-c17000000001-long
mkdir .git/$c/jp-c17000000001-dddd
mkfifo .git/$c/jp-c17000000001-fifo
for name in --help -rf 'a;b' x.lock 'a..b' "$(printf 'a\033]0;owned\007')" '$(id)' JP-C17000000001-HEAD; do echo $head >".git/$c/$name"; done
two=$(printf 'tree %s\nparent %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\njp-data {}\n\nx\n' $tree $head $head | git hash-object -t commit -w --stdin)
git update-ref $c/jp-c17000000001-twoo $two
evil=$(printf '100644 blob %s\t.git\n120000 blob %s\tlink\n100644 blob %s\t..\n' $blob $blob $blob | git mktree)
bad=$(printf 'tree %s\nparent %s\nauthor \033]0;owned\007 <a@b> 1 +0000\ncommitter A <a@b> 99999999999999 +0000\njp-data {"v":1,"seq":0,"type":"turn_start"}\njp-state {}\n\n\033]0;owned\007\n' $evil $head | git hash-object -t commit -w --stdin --literally)
git update-ref $c/jp-c17000000001-aevi $bad
git update-ref refs/jp/remotes/origin/conversations/jp-c17000000001-aevi $bad
mkdir -p .git/jp && ln -s "$OUTSIDE" .git/jp/drafts
