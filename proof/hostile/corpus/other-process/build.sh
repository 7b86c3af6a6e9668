echo one >a.txt
git add a.txt
git commit -qm a
cat >reach.sh <<'EOF'
# Does to the process what it can, and says what it could.
prlimit --pid "$1" --nofile=77:77 && echo limit >>reached
renice -n 7 -p "$1" && echo nice >>reached
taskset -cp 0 "$1" && echo processors >>reached
ionice -c 3 -p "$1" && echo disk >>reached
[ "$(uname -m)" != x86_64 ] || perl -e 'exit(syscall(250, 0, -5, 1) < 0)' && echo keyring >>reached
exit 0
EOF
