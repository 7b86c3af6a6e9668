package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const parentScript = `
[[reply]]
message = "I delegate."
[[reply.tool_call]]
name = "delegate"
arguments = { task = "Work on it", model = "script/../child.toml" }
[[reply]]
message = "Over."
`

// family is a place with a model that delegates, and one that works.
func family(t *testing.T, child string) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../parent.toml", parentScript)
	p.write("../child.toml", child)
	return p
}

// types are the types of a conversation's events.
func (p *workspace) types(conversation string) (types []string) {
	p.t.Helper()
	var events []struct{ Type string }
	out := p.jp("print", "--internal", "--json", conversation)
	require.NoError(p.t, json.Unmarshal([]byte(out.stdout), &events), out.stderr)
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

func TestADelegatesQuestionIsAskedAtTheTerminal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer func(*sitting)
		exit   int
		files  string
		child  string // type of an event that it has
		parent string
	}{
		"yes": {func(s *sitting) { s.Type("y"); s.promptedAgain(3); s.Type("n") }, 0, "made.txt", "turn_done", "turn_done"},
		"stop, of the parent's turn": {func(s *sitting) { s.Type("\x03"); s.WaitFor("s stop (ends the turn)"); s.Type("s") },
			0, "", "turn_stopped", "turn_stopped"},
		"abort": {func(s *sitting) { s.abort() }, 130, "", "turn_interrupted", "turn_interrupted"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := family(t, makeScript)
			s := p.sit(100, "query", "-m", "script/../parent.toml", "Go")
			s.prompted()
			s.WaitFor("delegate")
			s.Type("y")
			s.promptedAgain(2)
			s.WaitFor("▸ jp-c")
			tt.answer(s)
			require.Equal(t, tt.exit, s.exit())
			require.Contains(t, p.types("Work on it"), tt.child)
			require.Contains(t, p.types("."), tt.parent)
			if tt.exit == 0 {
				require.Empty(t, p.jp("ls", "--status", "interrupted").stdout)
				require.NotContains(t, s.Raw(), "I make a file", "the child's words are its parent's")
				return
			}
			out := p.jp("continue", "--policy", "auto", "--non-interactive")
			require.Zero(t, out.exit, out.stderr)
			require.Equal(t, []string{"made.txt", "other.txt"}, p.untracked())
			require.Equal(t, "Over.\n", out.stdout)
		})
	}
}

func TestMenuWhileADelegateWorks(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"x": "turn_done", "s": "turn_stopped"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			p := family(t, hangScript)
			s := p.sit(100, "query", "-y", "-m", "script/../parent.toml", "Go")
			s.WaitFor("▸ jp-c")
			require.Eventually(t, func() bool { return p.jp("show", "Work on it").exit == 0 }, time.Minute, 20*time.Millisecond)
			locked := p.jp("continue", "Work on it")
			require.Equal(t, 4, locked.exit, locked.stderr)
			s.menu(1)
			s.WaitFor("delegate Work on it has run")
			s.Type(key)
			require.Zero(t, s.exit())
			require.Contains(t, p.types("Work on it"), "turn_stopped")
			require.Contains(t, p.types("."), want)
			response := p.ofType("tool_call_response")[0]
			require.Contains(t, response["content"], "The delegate gave no answer: the user stopped it.")
			require.Equal(t, key == "x", response["cancelled"] == true)
			require.Empty(t, p.jp("ls", "--status", "interrupted").stdout)
			require.Zero(t, p.jp("verify", "--all").exit)
		})
	}
}

// statingScript reports its state before it asks.
const statingScript = `
[[reply]]
[[reply.tool_call]]
name = "update_state"
arguments = { plan = "Make it.", open_tasks = ["one", "two"], errors = ["e"] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "Made."
`

func TestTheOfferNamesTheDelegate(t *testing.T) {
	t.Parallel()
	p := family(t, statingScript)
	require.Equal(t, 3, p.jp("query", "--cfg", "tools.delegate.run=unattended", "-m", "script/../parent.toml", "Go").exit)
	s := p.sit(120, "query", "More")
	s.WaitFor("⏸ delegate Work on it — jp-c")
	s.WaitFor(": waiting-for-input (create)")
	s.WaitFor("it said: 2 open tasks, plan: Make it., 1 error")
	s.prompted()
	s.Type("q")
	require.Equal(t, 3, s.exit())
	require.Zero(t, p.jp("continue", "--discard").exit)
	require.Contains(t, p.types("Work on it"), "turn_discarded")
}
