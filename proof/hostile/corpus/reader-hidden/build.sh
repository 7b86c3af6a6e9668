mkdir -p "$HOME/.ssh"
echo "$CANARY" >"$HOME/.ssh/id_ed25519"
echo "$CANARY" >"$HOME/note"
echo one >a.txt
ln -s "$HOME" home
ln -s "$HOME/note" data.txt
mkdir sub
ln -s "$OUTSIDE" sub/out
git add a.txt
git commit -qm a
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
