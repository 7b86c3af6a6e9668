echo owned >>hard.txt
