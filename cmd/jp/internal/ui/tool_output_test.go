package ui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safetext"
)

func TestWithoutEnding(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"nothing":           {"", ""},
		"only how it ended": {"exit status 1\n", ""},
		"how it ended":      {"a\nexit status 12\n", "a"},
		"with a note":       {"a\nexit status 12\n[confined: no network]\n", "a"},
		"of another":        {"exit status 1\na\nb\n", "exit status 1|a|b"},
		"not how it ended":  {"a\nexit status 12 was wrong\n", "a|exit status 12 was wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, strings.Join(withoutEnding(safetext.Lines(tt.content)), "|"))
		})
	}
}

func TestWithoutOutput(t *testing.T) {
	for subject, want := range map[string]bool{
		"shell_run go test: exit 1, 7 lines": false, "fs_read_file a.go: error: no such file": false,
		"shell_run go test: declined by user": true, "shell_run go test: denied by a hook": true,
		"shell_run: not run: argv is missing": true, "x: not run: no tool of this name is on": true, "shell_run ./deploy: outcome unknown": true,
	} {
		require.Equal(t, want, withoutOutput(subject), subject)
	}
}

func TestSaysAll(t *testing.T) {
	for _, tt := range []struct {
		subject, output string
		want            bool
	}{
		{"fs_read_file a.go: error: no such file", "a.go: no such file", true},
		{"x: error: it is too late", "it is too late", true},
		{"x: error: it is too late", "it is too late, since\nit is", false},
		{"shell_run ls: exit 2, 1 line", "ls: cannot open directory", false},
		{"shell_run true: exit 1, 0 lines", "", true},
	} {
		require.Equal(t, tt.want, saysAll(tt.subject, safetext.Lines(tt.output)), tt)
	}
}

func TestMarginal(t *testing.T) {
	for name, tt := range map[string]struct {
		line  string
		width int
		want  string
	}{
		"short":             {"a b", 20, "    a b"},
		"between words":     {"one two three four", 18, "    one two three\n    four"},
		"a word too long":   {"onetwothreefour", 12, "    onetwothreefour"},
		"indented":          {"\tone  two", 40, "        one  two"},
		"indented, long":    {"    one two three", 16, "        one two\n     three"},
		"a stack":           {"  at one two three", 40, "      at one two three"},
		"no terminal":       {strings.Repeat("word ", 50), 0, "    " + strings.TrimSpace(strings.Repeat("word ", 50))},
		"blank":             {"", 20, ""},
		"hardly a terminal": {"one two three", 6, "   one\n   two\n three"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, strings.Join(marginal([]string{tt.line}, 4, tt.width), "\n"))
		})
	}
}

func TestHintBesideOrBelow(t *testing.T) {
	require.Equal(t, []string{"    … 3 lines   jp print --tools abcd"}, withHint("    … 3 lines", "jp print --tools abcd", 37))
	require.Equal(t, []string{"    … 3 lines", "      jp print --tools abcd"}, withHint("    … 3 lines", "jp print --tools abcd", 36))
	require.Equal(t, []string{"    … 3 lines   jp print --tools abcd"}, withHint("    … 3 lines", "jp print --tools abcd", 0))
}
