package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLineEndsOfAText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "", "a\nb\n": "", "a\r\nb\r\n": "", "a\r\nb": "", "a\x00\r\nb\n": "", // these have one kind, or are not text
		"a\nb\r\n": "1 1", "a\r\nb\n": "0 1 1", "\n\n\r\n\r\n\r\n\na\rb\r": "2 3 1",
		strings.Repeat("\n\r\n", 500): strings.TrimSpace(strings.Repeat("1 ", 1000)), strings.Repeat("\n\r\n", 501): "",
	} {
		file := filepath.Join(t.TempDir(), "a")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		ends := LineEnds(file)
		require.Equal(t, want, ends, "%q", text)
		for _, stored := range []string{text, strings.ReplaceAll(text, "\r\n", "\n"), strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")} {
			if ends != "" {
				require.Equal(t, text, string(withLineEnds([]byte(stored), ends)), "%q", text)
			}
		}
	}
	for _, bad := range []string{"", "1", "x", "1 -1", "0 0 0", "1 99999999999999999999"} {
		require.Nil(t, withLineEnds([]byte("a\nb\n"), bad), bad)
	}
}
