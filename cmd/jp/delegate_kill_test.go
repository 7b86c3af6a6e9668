package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/crashtest"
)

// countScript counts how often two of its tools ran.
const countScript = `
[[reply]]
[[reply.tool_call]]
name = "update_state"
arguments = { plan = "count" }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >> one"] }
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >> two"] }
[[reply]]
message = "Counted."
`

// killedFamily runs a turn with a delegate under the tracer, and kills it at a moment.
func killedFamily(t *testing.T, m moment) (*place, crashtest.Result) {
	t.Helper()
	p := family(t, countScript)
	cmd := p.command("query", "-y", "--non-interactive", "-m", "script/../parent.toml", "Go")
	traced, err := crashtest.Run(t.Context(), cmd, m.kill())
	if errors.Is(err, crashtest.ErrUnsupported) {
		// Where tracing is forbidden nobody can say at which call to kill.
		t.Skip(err)
	}
	require.NoError(t, err)
	return p, traced
}

// TestKillWhileADelegateWorks kills jp where one of the two conversations moves
// on, and goes on with the parent: its result is the child's answer, and no tool
// of the child ran twice.
func TestKillWhileADelegateWorks(t *testing.T) {
	t.Parallel()
	p, whole := killedFamily(t, moment{})
	p.requireFamily()
	moves := refMoves(whole.Points)
	require.Greater(t, len(moves), 20)
	if !exhaustive() {
		moves = evenly(moves, 6)
	}
	for i, n := range moves {
		for _, m := range []moment{{n: n}, {n: n, after: true}} {
			if !exhaustive() && m.after == (i%2 == 0) {
				continue
			}
			t.Run(fmt.Sprint(m), func(t *testing.T) {
				p, traced := killedFamily(t, m)
				require.NotNil(t, traced.Killed)
				p.passTime()
				args := []string{"continue", "-y", "--non-interactive"}
				if p.git("for-each-ref", "refs/jp/conversations") == "" {
					args = []string{"query", "-y", "--non-interactive", "-m", "script/../parent.toml", "Go"}
				}
				out := p.jp(args...)
				require.Zero(t, out.exit, out.stderr)
				p.requireFamily()
			})
		}
	}
}

// TestAToolOfAChildThatOutlivedJp is waited for before anything is recorded, in
// the parent as in the child.
func TestAToolOfAChildThatOutlivedJp(t *testing.T) {
	t.Parallel()
	p := family(t, survivorScript)
	cmd := p.command("query", "-y", "-m", "script/../parent.toml", "Go")
	require.NoError(t, cmd.Start())
	t.Cleanup(p.endSurvivor)
	require.Eventually(t, func() bool { return p.lines("count") == 1 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	before := p.git("for-each-ref", "refs/jp")
	out := p.jp("continue", "--non-interactive")
	require.Equal(t, 4, out.exit, out.stderr)
	require.Contains(t, out.stderr, "shell_run of the earlier run of")
	require.Equal(t, before, p.git("for-each-ref", "refs/jp"), "nothing is changed")

	p.endSurvivor()
	out = p.jp("continue", "--non-interactive")
	require.Zero(t, out.exit, out.stderr)
	require.Equal(t, "Over.\n", out.stdout)
	require.Equal(t, 2, p.lines("count"), "it ran once, and says so twice")
}

// requireFamily checks both conversations and what the child's tools did.
func (p *place) requireFamily() {
	p.t.Helper()
	require.Equal(p.t, "Over.\n", p.jp("print", "--answer").stdout)
	require.Equal(p.t, "Counted.", p.result(0))
	require.Empty(p.t, p.jp("ls", "--status", "interrupted").stdout)
	require.Zero(p.t, p.jp("verify", "--all").exit)
	told := p.jp("print", "Work on it").stdout
	for _, name := range []string{"one", "two"} {
		if told != "" && p.lines(name) == 0 {
			require.Contains(p.t, told, "outcome unknown", name)
		}
		require.LessOrEqual(p.t, p.lines(name), 1, name)
	}
}
