export $(grep -v JP_CFG_H .env)
"$JP" query --new -m anthropic/x Hello. || :
