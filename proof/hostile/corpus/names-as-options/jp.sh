for word in --output=owned --output=.git/info/owned "--exec=$EVIL" "-O$EVIL"; do
	"$JP" diff -- "$word" || :
	"$JP" blame -- "$word" || :
	"$JP" show -- "$word" || :
	"$JP" fork -- "$word" || :
	"$JP" restore -y @5 -- "$word" || :
	"$JP" log -- "$word" || :
done
[ ! -e owned ] && [ ! -e .git/info/owned ]
