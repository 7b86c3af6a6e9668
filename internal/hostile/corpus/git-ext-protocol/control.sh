git fetch origin || :
