package catalog

// contexts are how many tokens models can read, by the beginning of their names. What is not here
// is unknown, which is better than wrong.
func contexts() map[string]int {
	return map[string]int{
		"anthropic/claude-":        200_000,
		"openai/gpt-5":             400_000,
		"openai/gpt-4.1":           1_047_576,
		"openai/gpt-4o":            128_000,
		"openai/o3":                200_000,
		"openai/o4-mini":           200_000,
		"google/gemini-2.5-":       1_048_576,
		"google/gemini-2.0-flash":  1_048_576,
		"google/gemini-3":          1_048_576,
		"deepseek/deepseek-":       128_000,
		"mistral/mistral-large":    128_000,
		"mistral/mistral-medium":   128_000,
		"mistral/devstral":         128_000,
		"openrouter/anthropic/":    200_000,
		"openrouter/openai/gpt-5":  400_000,
		"openrouter/openai/gpt-4o": 128_000,
		"openrouter/google/gemini": 1_048_576,
	}
}

// ContextOf is how many tokens a model, "vendor/name", can read as far as it is known, else 0.
func ContextOf(model string) int {
	best, tokens := "", 0
	for name, n := range contexts() {
		if len(name) > len(best) && len(model) >= len(name) && model[:len(name)] == name {
			best, tokens = name, n
		}
	}
	return tokens
}
