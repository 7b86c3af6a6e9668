cat bytes.txt
