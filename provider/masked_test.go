package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"bad sk-12 34":                 "bad [key]",
		"bad sk-1234, sk-1234.":        "bad [key], [key].",
		"bad sk-\x0012\x1b\u200b34.":   "bad [key].",
		"bad sk-\n12\r\n34 x":          "bad [key] x",
		"bad sk-sk-1234":               "bad sk-[key]",
		"bad sk-123":                   "bad sk-123",
		"two\nlines,\x07 ü\tand a tab": "two\nlines, ü\tand a tab",
	} {
		require.Equal(t, want, provider.Masked(text, "sk-1234"), "%q", text)
	}
	require.Equal(t, "as it stands", provider.Masked("as it \x00stands", ""))
}
