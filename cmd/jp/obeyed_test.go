package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest"
	"jp/internal/testing/gitenv"
)

// jp asks a person if a tool changed files that git obeys; only a yes lets the turn go on.
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

// TestKillWhileAToolChangesControlFiles kills jp before and after ref updates of the conversation, and
// goes on with the turn: nothing runs behind the changed files before jp has named them.
func TestKillWhileAToolChangesControlFiles(t *testing.T) {
	t.Parallel()
	killed := func(t *testing.T, m moment) (*workspace, crashtest.Result) {
		p := newPlace(t)
		p.write("../hook.toml", `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo true >.git/hooks/pre-commit; git config alias.x '!true'"] }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >>later"] }
[[reply]]
message = "Over."
`)
		require.NoError(t, os.MkdirAll(filepath.Join(p.dir, ".git/hooks"), 0o777))
		p.environ = append(p.environ, unconfined)
		traced, err := crashtest.Run(t.Context(), p.command("query", "-y", "--non-interactive", "-m", "script/../hook.toml", "Go"), m.kill())
		if errors.Is(err, crashtest.ErrUnsupported) {
			t.Skip(err)
		}
		require.NoError(t, err)
		return p, traced
	}
	_, whole := killed(t, moment{})
	moves := refMoves(whole.Points)
	if len(moves) == 0 && gitenv.RefsThroughGit() {
		t.Skip("git moves the refs, and TestGitIsKilledWhileItMovesRefs kills it")
	}
	require.Greater(t, len(moves), 4)
	for i, n := range moves {
		for _, m := range []moment{{n: n}, {n: n, after: true}} {
			if !exhaustive() && m.after == (i%2 == 0) {
				continue
			}
			t.Run(fmt.Sprint(m), func(t *testing.T) {
				p, traced := killed(t, m)
				if traced.Killed == nil {
					t.Skip("it had fewer points than the run before it")
				}
				p.passTime()
				said := ""
				for range 4 {
					args := []string{"continue", "-y", "--non-interactive"}
					if p.git("for-each-ref", "refs/jp/conversations") == "" {
						args = []string{"query", "-y", "--non-interactive", "-m", "script/../hook.toml", "Go"}
					}
					changed, err := os.ReadFile(filepath.Join(p.dir, ".git/config"))
					require.NoError(t, err)
					out := p.jp(args...)
					if _, err := os.Stat(filepath.Join(p.dir, "later")); err == nil && strings.Contains(string(changed), "alias") {
						if !strings.Contains(out.stderr, "\nGoing on with files that git obeys as they are now: .git/config, .git/hooks/pre-commit\n") {
							require.Contains(t, said, ".git/config", "it went on without a word")
						}
					}
					if said += out.stderr; out.exit == 0 {
						break
					}
					require.Equal(t, 3, out.exit, out.stderr)
				}
				if _, err := os.Stat(filepath.Join(p.dir, ".git/hooks/pre-commit")); err == nil { // the tool ran
					require.Contains(t, said, "that git obey")
					require.Contains(t, said, ".git/hooks/pre-commit")
				}
				require.Contains(t, p.jp("print").stdout, "Over.")
			})
		}
	}
}
