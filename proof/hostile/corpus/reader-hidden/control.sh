grep -R canary . || cat data.txt
