echo one >a.txt
git add a.txt
git commit -qm a

git clone -q --bare . "$BASE/other"
git config core.repositoryFormatVersion 1
git config extensions.partialClone o
git config remote.o.url "$BASE/other"
git config remote.o.promisor true
git config remote.o.uploadpack "$EVIL"
git config core.alternateRefsCommand "$EVIL"
blob=$(git rev-parse HEAD:a.txt)
rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)
rm .git/index
