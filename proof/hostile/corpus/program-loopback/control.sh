. "$ATTACK/service.sh"
perl reach.pl "$URL/loopback" "$BASE/s"
kill "$service"
