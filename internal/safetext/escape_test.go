package safetext

import (
	"os/exec"
	"strings"
	"testing"

	"jp/internal/testing/safetexttest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"bare":           {"./a-b_c/d.go:12", "./a-b_c/d.go:12"},
		"letters":        {"größe漢", "größe漢"},
		"empty":          {"", "''"},
		"space":          {"a b", "'a b'"},
		"trailing space": {"rm ", "'rm '"},
		"quote":          {"it's", `'it'\''s'`},
		"expansion":      {"$HOME *", "'$HOME *'"},
		"newline":        {"a\nb", `$'a\nb'`},
		"backslash":      {`a\b`, `'a\b'`},
		"both":           {"a\\'\x1b", `$'a\\\'\x1b'`},
		"override":       {"a\u202eb", `$'a\u202eb'`},
		"tag":            {"\U000e0041", `$'\U000e0041'`},
		"no-break space": {"a\u00a0b", `$'a\u00a0b'`},
		"soft hyphen":    {"a\u00adb", `$'a\u00adb'`},
		"selector":       {"a\U000e0100", `$'a\U000e0100'`},
		"filler":         {"\u3164", `$'\u3164'`},
		"not UTF-8":      {"a\xffb", `$'a\xffb'`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, Escape(test.in)) })
	}
	require.Equal(t, "go test 'a b'", EscapeAll([]string{"go", "test", "a b"}))
	require.Equal(t, "two words", Show("two words"))
	require.Equal(t, "'two words '", Show("two words "))
	require.Equal(t, `$'a\x1b'`, Show("a\x1b"))
}

func TestEscapeIsOneVisibleLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown := Escape(safetexttest.Dangerous.Draw(t, "argument"))
		require.Equal(t, shown, Clean(shown))
		require.NotContains(t, shown, "\n")
		require.NotEmpty(t, shown)
	})
}

// A shell that reads the shown text has the argument again.
func TestEscapeIsExact(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		// Only this proof needs bash; jp itself does not.
		t.Skip("no bash to read the arguments")
	}
	var args []string
	rapid.Check(t, func(t *rapid.T) {
		args = append(args, strings.ReplaceAll(safetexttest.Dangerous.Draw(t, "argument"), "\x00", ""))
	})
	cmd := exec.Command(bash, "--norc", "-c", `printf '%s\0' `+EscapeAll(args))
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, args, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
}
