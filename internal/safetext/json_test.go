package safetext

import (
	"encoding/json"
	"strings"
	"testing"

	"jp/internal/testing/safetexttest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEscapeJSON(t *testing.T) {
	tests := map[string]string{
		`{"a":"plain äöü 漢"}`:  `{"a":"plain äöü 漢"}`,
		"[\"\u009b2J\u007f\"]": `["\u009b2J\u007f"]`,
		"[\"a\u202eb\"]":       `["a\u202eb"]`,
		"[\"\U000e0041\"]":     `["\udb40\udc41"]`,
		"{\n\t\"a\": 1\n}\n":   "{\n\t\"a\": 1\n}\n",
	}
	for in, want := range tests {
		require.Equal(t, want, string(EscapeJSON([]byte(in))))
	}
}

func TestEscapeJSONMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := strings.ToValidUTF8(rapid.String().Draw(t, "text")+rapid.SampledFrom([]string{"", "\u0085", "\u2028", "\U000e007f", "\ufeff"}).Draw(t, "odd"), "")
		text, err := json.Marshal(said)
		require.NoError(t, err)
		escaped := EscapeJSON(text)
		require.NoError(t, safetexttest.Unsafe(strings.ReplaceAll(string(escaped), "\n", "")))
		var back string
		require.NoError(t, json.Unmarshal(escaped, &back))
		require.Equal(t, said, back)
	})
}
