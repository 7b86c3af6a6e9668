package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/ui"
	"jp/internal/testing/crashtest"
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
func killedFamily(t *testing.T, m moment) (*workspace, crashtest.Result) {
	t.Helper()
	p := family(t, countScript)
	cmd := p.command("query", "-y", "--non-interactive", "-m", "script/../parent.toml", "Go")
	traced, err := crashtest.Run(t.Context(), cmd, m.kill())
	if errors.Is(err, crashtest.ErrUnsupported) {
		// Without tracing the test cannot choose the system call at which it kills jp.
		t.Skip(err)
	}
	require.NoError(t, err)
	return p, traced
}

// TestKillWhileADelegateWorks kills jp before and after ref updates of the two conversations, and goes
// on with the parent: its result is the child's answer, and no tool of the child ran twice.
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

// survivedByATool is a place in which jp was killed while a tool of a delegate ran. The tool runs on.
func survivedByATool(t *testing.T) *workspace {
	t.Helper()
	p := family(t, survivorScript)
	cmd := p.command("query", "-y", "-m", "script/../parent.toml", "Go")
	require.NoError(t, cmd.Start())
	t.Cleanup(p.endSurvivor)
	require.Eventually(t, func() bool { return p.lines("count") == 1 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	return p
}

// TestAToolOfAChildThatOutlivedJp is waited for before anything is recorded, in
// the parent as in the child.
func TestAToolOfAChildThatOutlivedJp(t *testing.T) {
	t.Parallel()
	p := survivedByATool(t)
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

// TestKillEndsTheToolsOfDelegates ends the tools of a delegate that outlived a killed jp, by the name
// of the conversation that it works for.
func TestKillEndsTheToolsOfDelegates(t *testing.T) {
	t.Parallel()
	p := survivedByATool(t)
	out := p.jp("kill", "--json", ".")
	require.Zero(t, out.exit, out.stderr)
	var killed []struct {
		Conversation string
		PID, Tools   int
		Delegates    []struct {
			Conversation string
			Tools        int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out.stdout), &killed))
	require.Len(t, killed, 1)
	require.Zero(t, killed[0].PID+killed[0].Tools)
	require.Len(t, killed[0].Delegates, 1)
	require.NotEqual(t, killed[0].Conversation, killed[0].Delegates[0].Conversation)
	require.Equal(t, 1, killed[0].Delegates[0].Tools)

	out = p.jp("kill", ".")
	require.Zero(t, out.exit, out.stderr)
	require.Equal(t, killed[0].Conversation+": nothing runs.\n", out.stdout)
	require.Contains(t, p.jp("continue", "--non-interactive", "--policy", "deny").stderr, "outcome unknown")
	require.Equal(t, 1, p.lines("count"), "it did not get to its end")
}

func TestKillSaysWhatItEnded(t *testing.T) {
	of := []killedDelegateJSON{{Conversation: "jp-c2", Tools: 2}}
	for want, k := range map[string]killedJSON{
		"jp-c1: nothing runs.":                                                       {},
		"jp-c1: ended pid 7.":                                                        {PID: 7, Tools: 1, by: "jp-c1"},
		"jp-c1: ended pid 7, which ran jp-c0.":                                       {PID: 7, by: "jp-c0"},
		"jp-c1: ended 1 tool that had outlived the process.":                         {Tools: 1},
		"jp-c2, which works for jp-c1: ended 2 tools that had outlived the process.": {Delegates: of},
		"jp-c1: ended 1 tool that had outlived the process.\njp-c2, which works for jp-c1: ended 2 tools that had outlived the process.": {Tools: 1, Delegates: of},
	} {
		k.Change = ui.Changed("kill", "jp-c1")
		require.Equal(t, want, k.words())
	}
}

// requireFamily checks both conversations and the effects of the child's tools.
func (p *workspace) requireFamily() {
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
