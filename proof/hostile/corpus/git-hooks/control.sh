git update-ref refs/heads/b HEAD; git add a.txt
