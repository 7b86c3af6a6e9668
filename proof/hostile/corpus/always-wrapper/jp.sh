for rule in '"timeout", "60"' '"env", "CI=1"' '"python3.11", "-c"' '"uv", "run"' '"npx"' '"docker", "run"' '"ssh", "host"' '"find", ".", "-exec"' '"busybox", "sh"' '"sh", "-c"'; do
	said=$("$JP" --cfg "policy.allow=[[$rule]]" doctor </dev/null 2>&1) || :
	case $said in *"that is every program that"*) ;; *) "$EVIL" "$rule" ;; esac
done
