package provider

import "strings"

// worded are phrases of servers, in small letters, by their class. Few servers have a code for every error,
// and errors in the middle of a stream often lack one. The first match counts.
var worded = []struct {
	class   Class
	phrases []string
}{
	{ClassRateLimit, []string{"rate limit", "rate_limit", "too many requests", "tokens per min", "requests per min"}},
	{ClassContext, []string{
		"maximum context length", "context length", "context window", "context size", "context limit", "exceed_context_size",
		"prompt is too long", "prompt too long", "input is too long", "too many tokens", "exceeds the maximum number of tokens",
	}},
	{ClassQuota, []string{"credit balance is too low", "usage limits", "insufficient credits", "insufficient balance", "insufficient_quota", "exceeded your current quota"}},
	{ClassAuth, []string{
		"invalid api key", "incorrect api key", "invalid_api_key", "api key not valid", "invalid x-api-key", "missing api key", "no api key",
		"no auth credentials", "unauthorized", "authentication", "permission denied",
	}},
	{ClassModel, []string{"model not found", "model_not_found", "no such model", "invalid model id", "invalid model name", "unknown model", "model does not exist"}},
	{ClassTimeout, []string{"timed out", "timeout"}},
	{ClassOverloaded, []string{
		"overloaded", "unavailable", "try again", "bad gateway", "internal server error", "internal error", "upstream", "capacity", "temporarily", "no healthy",
	}},
}

// ClassOfWords is the class of a server's error text, "" if it is unclear.
func ClassOfWords(words string) Class {
	words = strings.ToLower(words)
	for _, w := range worded {
		for _, phrase := range w.phrases {
			if strings.Contains(words, phrase) {
				return w.class
			}
		}
	}
	return ""
}

// IsContextReason reports whether a server's reason for the end of an answer means that the model's context
// is full: "model_context_window_exceeded", "CONTEXT_LENGTH".
func IsContextReason(reason string) bool {
	return strings.Contains(strings.ToLower(reason), "context")
}
