package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

func TestWhatHelpsWithABusyConversation(t *testing.T) {
	t.Parallel()
	p, id := inUse(t)
	tests := map[string][]string{
		"query More":           {"attach ID", "query --fork --discard-turn --id=ID Text", "query --new Text", "query --no-persist --id=ID Text", "kill ID"},
		"query --detach More":  {"attach ID", "query --fork --discard-turn --id=ID Text", "query --new Text", "query --no-persist --id=ID Text", "kill ID"},
		"continue":             {"attach ID", "kill ID"},
		"discard":              {"attach ID", "kill ID"},
		"query --discard-turn": {"attach ID", "kill ID"},
		"edit --pin":           {"attach ID", "fork ID", "kill ID"},
		"archive":              {"attach ID", "fork ID", "kill ID"},
		"rm -y " + string(id):  {"attach ID", "fork ID", "kill ID"},
		"undo -y":              {"attach ID", "fork ID", "kill ID"},
		"restore -y @0":        {"attach ID", "fork ID", "kill ID"},
	}
	for line, want := range tests {
		out := p.jp(append(words(line), "--json")...)
		require.Equal(t, problem.ExitLocked, out.exit, "%s: %s", line, out.stderr)
		for i := range want {
			want[i] = "jp " + strings.ReplaceAll(want[i], "ID", string(id))
		}
		hints := out.hints(t)
		require.Equal(t, want, hints, line)
		p.understood(hints)
	}
	said := p.jp("query", "More").stderr
	require.Regexp(t, `^Error: Conversation `+string(id)+` is locked by pid \d+ \(detached, running \d+ (s|min)\)\.\n\n    jp attach `, said)
}

// understood checks that jp accepts commands.
func (p *workspace) understood(commands []string) {
	p.t.Helper()
	for _, command := range commands {
		out := p.jp(append(words(command)[1:], "--help")...)
		require.Zero(p.t, out.exit, "%s: %s", command, out.stderr)
	}
}

// TestThatItHelps runs the commands that the error lists.
func TestThatItHelps(t *testing.T) {
	t.Parallel()
	p, id := inUse(t)
	p.write("../else.toml", strings.Repeat("[[reply]]\nmessage = \"Elsewhere.\"\n", 3))
	said := p.jp("query", "More").stderr
	require.Len(t, advised(said), 5)
	const asks = `"…"=-m script/../else.toml Text`
	for _, out := range []result{p.helps(said, "ask-in-fork-without", asks), p.helps(said, "ask-new", asks), p.helps(said, "ask-beside", asks)} {
		require.Zero(t, out.exit, out.stderr)
		require.Equal(t, "Elsewhere.\n", out.stdout)
	}
	require.Zero(t, p.jp("use", string(id)).exit)
	require.Zero(t, p.helps(said, "kill").exit)
	require.Contains(t, p.jp("ls").stdout, "interrupted")
	require.Zero(t, p.jp("verify", "--all").exit)
}

func TestWhatABusyConversationWaitsFor(t *testing.T) {
	t.Parallel()
	p, id := asking(t)
	said := p.jp("query", "More").stderr
	require.Regexp(t, `\n  It waits for an answer: Create made.txt\?\n\n    jp attach `, said)
	hints := p.jp("query", "--json", "More").hints(t)
	require.Equal(t, "jp answer "+string(id), hints[1])
	p.understood(hints)
	for range 2 {
		require.Zero(t, p.jp(append(words(hints[1])[1:], "n")...).exit)
		require.Contains(t, []int{0, problem.ExitDecision}, p.jp("attach", "--wait").exit)
	}
	require.Empty(t, p.untracked())
	require.Contains(t, p.jp("ls").stdout, "idle")
}
