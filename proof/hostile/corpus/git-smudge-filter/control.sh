git checkout -q -- a.txt
