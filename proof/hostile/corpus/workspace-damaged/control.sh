cat "$BASE/raw.toml"
