git add a.txt || :
