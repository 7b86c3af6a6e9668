mkdir .jp
cat >.jp/config.toml <<END
model = "anthropic/x"
[providers]
anthropic.base_url = "$URL"
openai.base_url = "$URL"
gemini.base_url = "$URL"
openrouter.base_url = "$URL"
ollama.base_url = "$URL"
END
git add -f .jp
git commit -qm settings
