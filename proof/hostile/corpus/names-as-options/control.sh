git diff --output=.git/info/owned HEAD
