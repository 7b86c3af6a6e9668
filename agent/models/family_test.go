package models

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheNewestOfAFamily reads the lists of providers.
func TestTheNewestOfAFamily(t *testing.T) {
	t.Parallel()
	anthropic := []string{"claude-opus-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929", "claude-3-opus-20240229"}
	openai := []string{"gpt-4o", "gpt-4o-mini", "gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.1-codex", "gpt-5.2-2026-01-10", "gpt-image-1", "o3", "o4-mini", "gpt-6", "gpt-6-realtime-preview"}
	google := []string{"gemini-2.0-flash", "gemini-2.5-flash-lite", "gemini-3-pro-preview", "gemini-3-flash", "gemini-embedding-001"}
	for name, tc := range map[string]struct {
		model  string
		listed []string
		want   string
	}{
		"a newer one":             {"claude-sonnet-4-5", anthropic, "claude-sonnet-5"},
		"an older form of a name": {"claude-3-5-sonnet-20241022", anthropic, "claude-sonnet-5"},
		"another tier":            {"claude-opus-4-1-20250805", anthropic, "claude-opus-5-5"},
		"itself is no other":      {"claude-haiku-4-5-20251001", anthropic, ""},
		"no tier":                 {"gpt-5.1-2025-11-13", openai, "gpt-6"},
		"a small one":             {"gpt-4.1-mini", openai, "gpt-5-mini"},
		"a kind":                  {"gpt-5-codex", openai, "gpt-5.1-codex"},
		"letters with a number":   {"o1", openai, "o3"},
		"only a preview":          {"gemini-2.5-pro", google, "gemini-3-pro-preview"},
		"a stable one":            {"gemini-2.5-flash", append([]string{"gemini-3.5-flash-preview"}, google...), "gemini-3-flash"},
		"dates alone":             {"mistral-large-2407", []string{"mistral-large-2411", "mistral-large-2512", "mistral-small-2603"}, "mistral-large-2512"},
		"behind a vendor":         {"anthropic/claude-sonnet-4.5", []string{"anthropic/claude-sonnet-5", "other/claude-sonnet-9"}, "anthropic/claude-sonnet-5"},
		"versions with letters":   {"deepseek-v3.1", []string{"deepseek-v3.2", "deepseek-v4"}, "deepseek-v4"},
		"sizes":                   {"qwen2.5-coder:7b", []string{"qwen3-coder:30b", "qwen3:8b"}, "qwen3-coder:30b"},
		"an odd list":             {"m", []string{"", "/", "-", "1"}, ""},
		"another family":          {"grok-4", openai, ""},
		"no list":                 {"grok-4", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, newestOf(tc.model, tc.listed))
		})
	}
}
