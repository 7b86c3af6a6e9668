git cat-file -p refs/jp/conversations/jp-c17000000001-zero >/dev/null
