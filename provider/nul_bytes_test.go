package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWithoutNUL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\x00", `\`, "u0000", `\u0000`, "a", `"`, "é"})).Draw(t, "text"), "")
		value, err := json.Marshal(map[string]string{"key": text})
		require.NoError(t, err)
		var got map[string]string
		require.NoError(t, json.Unmarshal(withoutNUL(value), &got))
		require.Equal(t, strings.ReplaceAll(text, "\x00", "\uFFFD"), got["key"])
		require.Equal(t, strings.Contains(text, "\x00"), holdsNUL(value))
	})
	require.Equal(t, `\`, string(withoutNUL([]byte(`\`))))
}
