echo one >a.txt
git add a.txt
git commit -qm a

printf '[core]\n\tfsmonitor = %s\n[filter "f"]\n\tclean = %s\n' "$EVIL" "$EVIL" >settings
git config include.path ../settings
git config includeIf.onbranch:main.path ../settings
echo "* filter=f" >.gitattributes
echo two >a.txt
