"$JP" query --new -m "$MODEL" -y Hello. >/dev/null 2>&1; git log --format=%B --glob=refs/jp/conversations | cat
