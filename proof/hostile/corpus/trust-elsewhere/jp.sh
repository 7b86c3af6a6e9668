# The user approved the same bytes in a repository of their own.
git init -q "$BASE/own" && git -C "$BASE/own" commit -q --allow-empty -m first
mkdir -p "$BASE/own/.jp"
cp .jp/config.toml "$BASE/own/.jp/config.toml"
"$JP" -C "$BASE/own" trust -y
"$JP" query --new -m anthropic/x Hello. || :
