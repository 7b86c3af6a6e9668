# Somebody else, with a key of their own.
theirs() { HOME=$BASE/them XDG_STATE_HOME=$BASE/them/state XDG_CONFIG_HOME=$BASE/them/config XDG_DATA_HOME=$BASE/them/data JP_SESSION=them "$JP" "$@"; }

theirs query --new -m "$MODEL" --policy defer Look. || :
theirs answer yes || :
ref=$(git for-each-ref --format='%(refname)' refs/jp/conversations | head -n 1)
git update-ref "refs/jp/remotes/origin/conversations/${ref##*/}" "$ref"
