# A program that starts what the file names.
sed -n 's/.*command = \["\([^"]*\)".*/\1/p; s/^turn-[a-z]* = \["\([^"]*\)".*/\1/p' .jp/config.toml | sort -u | while read -r program; do "$program"; done
