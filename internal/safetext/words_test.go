package safetext

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Words reads the output of EscapeAll back.
func TestWordsReadsWhatEscapeShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		argv := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))).Draw(t, "argv")
		words, err := Words(EscapeAll(argv))
		require.NoError(t, err)
		require.Equal(t, append([]string{}, argv...), append([]string{}, words...))
	})
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                     nil,
		"  go  test\n./... \n": {"go", "test", "./..."},
		`a "b c" d\ e`:         {"a", "b c", "d e"},
		`"a\"b\\c\d" ''`:       {`a"b\c\d`, ""},
		`$'a\tb\x41'`:          {"a\tbA"},
	} {
		words, err := Words(line)
		require.NoError(t, err, line)
		require.Equal(t, want, words, line)
	}
	for line, want := range map[string]string{
		"a | b":   "'|' needs quotes",
		"$HOME":   "'$' needs quotes",
		`"$HOME"`: "'$' needs single quotes",
		"'a":      "a ' has no end",
		`"a`:      `a " has no end`,
		"$'a":     "a $' has no end",
		`a\`:      `has no character behind it`,
		`$'\q'`:   `invalid code \q`,
		`$'\xzz'`: `invalid code \xzz`,
		"ls *.go": "'*' needs quotes",
		"a;b":     "';' needs quotes",
		`$'\u12'`: `invalid code \u`,
	} {
		_, err := Words(line)
		require.ErrorContains(t, err, want, line)
	}
}
