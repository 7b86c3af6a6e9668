# A program that takes the rule as it is.
timeout 60 "$EVIL"
