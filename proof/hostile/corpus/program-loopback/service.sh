rm -f "$BASE/s" "$BASE/s.ready"
perl serve.pl "$BASE/s" &
trap "kill $!" EXIT
while [ ! -e "$BASE/s.ready" ]; do sleep 0.05; done
