git show HEAD:a.txt || :
