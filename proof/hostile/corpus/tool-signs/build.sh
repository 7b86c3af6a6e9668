mkdir -p "$HOME/.ssh" "$HOME/.gnupg/private-keys-v1.d"
echo "$CANARY" >"$HOME/.ssh/id_ed25519"
echo "$CANARY" >"$HOME/.gnupg/private-keys-v1.d/one.key"
