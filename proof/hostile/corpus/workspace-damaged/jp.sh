cp "$BASE/raw.toml" .jp/config.toml
"$JP" status || :
"$JP" query --new -m "$MODEL" -y Look. || :
printf 'model = "\\u001b[2J\\u202e"\n[tools."\\u001b[2J"]\nenable = true\n[hooks]\nturn-end = ["\\u001b[2J\\u009b2J\\u202e"]\n' >.jp/config.toml
"$JP" status || :
"$JP" query --new Look. || :
"$JP" query --new -m "$MODEL" Look. || :
"$JP" --json query --new -m "$MODEL" Look. || :
ln -sf "$OUTSIDE/secret" .jp/config.toml
"$JP" status || :
"$JP" query --new -m "$MODEL" -y Look. || :
rm .jp/config.toml
mkfifo .jp/config.toml
"$JP" status || :
rm .jp/config.toml
printf 'model = "x"\n"\\u001b]0;owned\\u0007" = 1\n' >.jp/config.toml
