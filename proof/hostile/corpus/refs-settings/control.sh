cp "$ATTACK/believed.toml" "$HOME/.config/jp/config.toml"
sed -i "s|@url@|$URL|; s|@evil@|$EVIL|" "$HOME/.config/jp/config.toml"
"$JP" query --new -m anthropic/x Hello. || :
