echo one >a.txt
printf '#!/bin/sh\n"%s"\n' "$EVIL" >ls
chmod +x ls
echo "*.txt diff=d filter=f" >.gitattributes
git add .
git commit -qm a
echo two >a.txt
for key in alias.x core.pager core.fsmonitor diff.external diff.d.textconv diff.d.command filter.f.clean gpg.program core.editor; do
	git config $key "$EVIL"
done
git config alias.x "!$EVIL"
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
