eval "$(git config core.pager)" </dev/null
