# A client that calls what a server has, whatever it was when it was approved.
touch "$HOME/changed"
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' \
  '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lint","arguments":{}}}' | sh "$HOME/server.sh"
