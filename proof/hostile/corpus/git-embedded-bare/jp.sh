cd docs
for c in status ls diff "query -m $MODEL --new -y Look."; do
	"$JP" $c || :
done
cd ..
"$JP" -C docs query -m "$MODEL" --new -y Look. || :
