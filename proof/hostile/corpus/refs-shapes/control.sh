cat .git/refs/jp/conversations/jp-c17000000001-link
