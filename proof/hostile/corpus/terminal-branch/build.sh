name=$(printf 'a\302\2332Jb\302\2350;owned\302\234\342\200\256c\363\240\201\201')
git config user.name "$(printf 'Ada\302\2332J\342\200\256 \033]0;owned\007')"
git checkout -q -b "$name"
git tag "$name"
git commit -q --allow-empty -m "$(printf 'A \033]0;owned\007 subject \033[2J\342\200\256')"
git config branch."$name".remote "$name"
