"$JP" query --new -y -m "$MODEL" Look. >/dev/null 2>&1 || :
"$JP" continue -m anthropic/x >/dev/null 2>&1 || :
"$JP" discard >/dev/null 2>&1 || :
"$JP" query -m anthropic/x Again. >/dev/null 2>&1 || :
"$JP" query -m openai/x Again. >/dev/null 2>&1 || :
