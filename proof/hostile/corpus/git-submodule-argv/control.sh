git submodule update --init 2>&1 || exit 77
