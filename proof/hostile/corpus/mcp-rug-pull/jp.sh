# The server is approved as it is, and used; then it changes.
rm -f "$HOME/changed"
"$JP" trust --mcp x -y
"$JP" query --new -y -m "script/$ATTACK/model.toml" "Check it."
"$JP" print | grep -q 'mcp__x__lint: ' || { echo "the approved tool was not run"; exit 1; }
touch "$HOME/changed"
"$JP" query --new -y -m "script/$ATTACK/model.toml" "Check it." || :
"$JP" query --new -y -t mcp__x__lint -m "script/$ATTACK/model.toml" "Check it." || :
"$JP" trust --mcp x || :
"$JP" query --new -y --policy auto -m "script/$ATTACK/model.toml" "Check it." || :
