package safetext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"jp/internal/safetext"
)

func TestForModel(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\tb é 漢":                  "a\n\tb é 漢",
		"a\x1b[31mb\x1b]0;t\x07c\x9b": "abc\uFFFD",
		"a\u202eb\u200bc\u200dd":      "abcd",
		"a\U000E0041b\ufe0fc":         "abc",
		"a\u2028b\u2029c":             "a\nb\nc",
		"a\u3164\x00\rb":              "ab",
		"a\xffb":                      "a\uFFFDb",
	} {
		require.Equal(t, want, safetext.ForModel(text), "%q", text)
	}
}

func FuzzForModel(f *testing.F) {
	for _, seed := range []string{"a\x1b[31mb", "\x1b]0;title\x07x", "\u202eabc", "\U000e0041", "a\u2028b", "\x9b31m", "a\x1b", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cleaned := safetext.ForModel(text)
		require.False(t, strings.ContainsFunc(cleaned, safetext.Hidden), "%q", cleaned)
		require.True(t, utf8.ValidString(cleaned))
		require.Equal(t, cleaned, safetext.ForModel(cleaned))
	})
}
