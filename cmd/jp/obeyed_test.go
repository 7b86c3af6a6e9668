package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A person is asked where a tool changed what git obeys; only a yes lets the turn go on.
func TestFilesThatGitObeysAreAsked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key  string
		exit int
	}{"yes": {"y", 0}, "no": {"n", 3}, "end of file is no yes": {"\x04", 3}, "Esc": {"\x1b", 3}, "Ctrl+C": {"\x03", 130}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../hook.toml", `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["git", "config", "alias.x", "!true"] }
[[reply]]
message = "Over."
`)
			s := p.sit(100, "query", "-y", "-m", "script/../hook.toml", "Go")
			s.WaitFor("shell_run changed files that git obeys. Look at them before you use git here:")
			s.WaitFor("  .git/config")
			s.prompted()
			s.Type(tt.key)
			require.Equal(t, tt.exit, s.exit())
			if tt.exit == 0 {
				require.Contains(t, s.Text(), "Over.")
				return
			}
			require.NotContains(t, s.Text(), "Over.")
			out := p.jp("continue", "-y")
			if tt.exit == 130 { // the question is open still
				require.Equal(t, 3, out.exit, out.stderr)
				require.Contains(t, out.stderr, ".git/config")
				out = p.jp("continue", "-y")
			}
			require.Zero(t, out.exit, out.stderr)
			require.Contains(t, out.stdout, "Over.")
		})
	}
}
