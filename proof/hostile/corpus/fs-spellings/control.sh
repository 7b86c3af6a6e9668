echo "[core]" >>.git/config; echo "model = \"a\"" >>.jp/config.toml
