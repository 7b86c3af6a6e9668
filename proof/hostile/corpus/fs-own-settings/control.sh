mkdir .jp
echo "model = \"a\"" >.jp/config.toml
