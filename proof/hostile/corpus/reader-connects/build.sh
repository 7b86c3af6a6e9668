echo one >a.txt
git add a.txt
git commit -qm a
git config core.repositoryFormatVersion 1
git config extensions.partialClone o
git config remote.o.url "$URL/repo"
git config remote.o.promisor true
blob=$(git rev-parse HEAD:a.txt)
rm -f .git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)
rm .git/index
# What the model calls: each line as words, and as a shell's.
q="'''"
awk -v q="$q" '
	{
		print "[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [" q "sh" q ", " q "-c" q ", " q $0 q "] }"
		words = ""
		for (i = 1; i <= NF; i++) words = words (i > 1 ? ", " : "") q $i q
		print "[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [" words "] }"
	}
	END { print "[[reply]]\nmessage = \"Over.\"" }
' "$ATTACK/lines.txt" | sed "s|@evil@|$EVIL|g; 1i [[reply]]" >"$BASE/model.toml"
