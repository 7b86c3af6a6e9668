git branch | cat; git log -1 --format=%an%s | cat
