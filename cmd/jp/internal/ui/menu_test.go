package ui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMenuTextFits(t *testing.T) {
	t.Parallel()
	choices := []string{"Enter go on", "r reply", "s stop (ends the turn)", "d detach", abort(false)}
	require.Equal(t, "  Enter go on   r reply   s stop (ends the turn)   d detach   a abort (jp continue resumes) > ", menuText(120, choices...))
	require.Equal(t, "  Enter go on   r reply   s stop (ends the turn)   d detach\n  a abort (jp continue resumes) > ", menuText(80, choices...))
	for width := 40; width < 120; width++ {
		for _, line := range strings.Split(menuText(width, choices...), "\n") {
			require.Less(t, len(strings.TrimRight(line, " ")), width)
		}
	}
}

func TestToolTitle(t *testing.T) {
	for _, tt := range []struct{ name, argument, want string }{
		{"shell_run", "go test ./...", "go test ./..."},
		{"shell_run", "sh -c 'echo a;\n    echo b'", "sh -c 'echo a; echo b'"},
		{"shell_run", "printf 'a    b'\tc", "printf 'a b' c"},
		{"fs_read_file", "a.go", "read a.go"},
		{"deploy", "prod", "deploy prod"},
	} {
		require.Equal(t, tt.want, toolTitle(tt.name, tt.argument))
	}
}
