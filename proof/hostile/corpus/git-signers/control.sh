git commit -q --allow-empty -m b || :
