names() {
	printf 'a\033]0;owned\007b\n' ; printf 'c\033[2Jd\n'; printf 'e\302\2332Jf\n'; printf 'g\033P+q\033\\h\n'
	printf 'i\033]52;c;ZXZpbA==\007j\n'; printf 'k\010\010l\n'; printf 'm\rn\n'; printf 'o\342\200\256p\n'
	printf 'q\363\240\201\201r\n'; printf 's\342\200\213t\n'; printf 'u\377\376v\n'; printf 'w\033[8mx\n'; printf '\033]0;\n'
}
names | while IFS= read -r name; do
	[ -n "$QUICK" ] && [ "${name#a}" = "$name" ] && continue
	for c in "blame" "diff --" "restore -y @3" "show" "print" "fork" "log --" "use" "grep" "ref" "ls" "archive"; do
		"$JP" $c "$name" || :
	done
done
