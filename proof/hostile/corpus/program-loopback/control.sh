. "$ATTACK/service.sh"
perl reach.pl "$BASE/s" http://127.0.0.1:9/
perl end.pl "$BASE/s"
# Both sockets, or the control shows nothing.
if [ "$(grep -c reached "$BASE/marks/ran")" != 2 ]; then
	rm -f "$BASE/marks/ran"
	exit 1
fi
perl reach.pl "$BASE/s" "$URL/loopback"
