package conversation_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestQuotePath(t *testing.T) {
	cases := map[string]string{
		"auth/retry.go":   "auth/retry.go",
		"":                "",
		"with space":      "with space",
		"höhe/世界":         "höhe/世界",
		`back\slash`:      `back\slash`,
		`in"side`:         `in"side`,
		`"quoted"`:        `"\"quoted\""`,
		"latin \xe9":      `"latin \351"`,
		"\xff\n\"\\\x7f":  `"\377\012\"\\\177"`,
		"line\nfeed":      "line\nfeed",
		"é and \xff both": `"\303\251 and \377 both"`,
	}
	for path, want := range cases {
		require.Equal(t, want, QuotePath(path))
		back, err := UnquotePath(want)
		require.NoError(t, err)
		require.Equal(t, path, back)
	}
}

func TestUnquotePathRefuses(t *testing.T) {
	for _, text := range []string{`"`, `"a`, `"\"`, `"\8"`, `"\400"`, `"\12"`, `"a\n"`, `"\-12"`} {
		_, err := UnquotePath(text)
		require.ErrorIs(t, err, ErrDamaged, text)
	}
}

func FuzzQuotePath(f *testing.F) {
	for _, seed := range []string{"a", `"`, "\xff", "\\", "\"\xff", "\xff\"", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		quoted := QuotePath(path)
		require.True(t, utf8.ValidString(quoted))
		back, err := UnquotePath(quoted)
		require.NoError(t, err)
		require.Equal(t, path, back)
		_, _ = UnquotePath(path) // it must not panic
	})
}
