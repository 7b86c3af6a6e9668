echo one >a.txt
git add a.txt
git commit -qm a

printf '[submodule "s"]\n\tpath = s\n\turl = -u./evil\n\tupdate = !%s\n[submodule "-u"]\n\tpath = -u%s\n\turl = x\n' "$EVIL" "$EVIL" >.gitmodules
git update-index --add --cacheinfo 160000,"$(git rev-parse HEAD)",s
git add .gitmodules
git commit -qm modules
