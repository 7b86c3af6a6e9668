git cat-file -p HEAD:a.txt || :
