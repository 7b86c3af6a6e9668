echo one >README.md
git add README.md
git commit -qm readme
# What the model calls: each string as one word, as words, and as a shell's.
q="'''"
awk -v q="$q" -v quick="$QUICK" '
	quick != "" && NR % 10 != 1 { next }
	NR % 100 == 1 { print "[[reply]]\nmessage = \"More.\"" }
	{
		call = "[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = ["
		line = $0
		print call q line q "] }"
		print call q "sh" q ", " q "-c" q ", " q line q "] }"
		words = ""
		for (i = 1; i <= NF; i++) words = words (i > 1 ? ", " : "") q $i q
		print call words "] }"
	}
	END { print "[[reply]]\nmessage = \"Over.\"" }
' "$ATTACK/bypasses.txt" | sed "s|@evil@|$EVIL|g" >"$BASE/model.toml"
