package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

const changeScript = `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "README.md", edits = [{ old = "A", new = "Another" }] }
[[reply]]
message = "Over."
`

// worked is a place in which tools made a file and changed another.
func worked(t *testing.T) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../change.toml", changeScript)
	require.Zero(t, p.jp("query", "-y", "-m", "script/../change.toml", "Work").exit)
	return p
}

// read is a file's text, or "".
func (p *workspace) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if !os.IsNotExist(err) {
		require.NoError(p.t, err)
	}
	return string(text)
}

func TestUndoAsks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		keys string
		end  func(*sitting)
		exit int
		done bool
	}{
		"yes":         {keys: "y", done: true},
		"capital":     {keys: "Y", done: true},
		"no":          {keys: "n", exit: 3},
		"end of file": {keys: "\x04", exit: 3},
		"Esc":         {keys: "\x1b", exit: 3},
		"Ctrl+C":      {keys: "\x03", exit: 130},
		"hang-up":     {end: func(s *sitting) { s.Hangup() }, exit: 129},
		"SIGTERM":     {end: func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, exit: 143},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := worked(t)
			s := p.sit(100, "undo")
			s.prompted()
			if tt.end == nil {
				s.Type(tt.keys)
			} else {
				tt.end(s)
			}
			require.Equal(t, tt.exit, s.exit(), s.Text())
			require.Equal(t, tt.done, p.read("made.txt") == "")
			require.Equal(t, tt.done, p.read("README.md") == "# A repository\n")
			require.Equal(t, tt.done, len(p.ofType("restored")) == 1)
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

func TestUndoListsBeforeItAsks(t *testing.T) {
	t.Parallel()
	p := worked(t)
	p.write("made.txt", "mine\n")
	s := p.sit(100, "undo")
	s.prompted()
	require.Contains(t, s.Text(), "Would put back 1 file as before @0:\n  M README.md\nLeft alone:\n  made.txt  others changed it after @")
	require.Contains(t, s.Text(), "Put 1 file back?  y yes   n no")
	s.Type("y")
	require.Zero(t, s.exit())
	s.WaitFor("takes this back")
	require.Contains(t, s.Text(), "\nPut back 1 file as before @0.\n")
	require.Equal(t, 1, strings.Count(s.Text(), "M README.md"), "who was asked has seen the list")
	require.Equal(t, "mine\n", p.read("made.txt"))
}

// Between the list and the answer the user may go on working.
func TestUndoLeavesWhatChangedWhileItAsked(t *testing.T) {
	t.Parallel()
	p := worked(t)
	s := p.sit(100, "undo")
	s.prompted()
	p.write("README.md", "# Mine\n")
	s.Type("y")
	require.Zero(t, s.exit())
	s.WaitFor("takes this back")
	require.Contains(t, s.Text(), "README.md  others changed it just now")
	require.Equal(t, "# Mine\n", p.read("README.md"))
	require.Empty(t, p.read("made.txt"))
	restored := p.ofType("restored")[0]["files"].([]any)
	require.Len(t, restored, 2)
	require.Equal(t, map[string]any{"path": "README.md", "done": false, "reason": "others changed it just now"}, restored[1])
	require.Len(t, p.ofType("workspace"), 1, "what the user wrote is theirs")
	require.Zero(t, p.jp("verify").exit)
}

// While jp asks whether it puts files back, others use the conversation. Their changes meanwhile
// count.
func TestConfirmationLeavesTheConversationFree(t *testing.T) {
	t.Parallel()
	const said, wrote = "said.toml", "wrote.toml"
	for name, test := range map[string]struct {
		args      []string
		meanwhile string // the script of another terminal's turn
		again     bool   // the question comes a second time
		more      bool   // the other turn's file is there at the end
	}{
		"undo":                                {args: []string{"undo"}},
		"undo, a turn without files":          {args: []string{"undo"}, meanwhile: said},
		"undo, a turn with a file":            {args: []string{"undo"}, meanwhile: wrote, again: true},
		"restore, a turn without files":       {args: []string{"restore", "@0"}, meanwhile: said},
		"restore, a turn with a file":         {args: []string{"restore", "@0"}, meanwhile: wrote, again: true},
		"restore of a path, a turn with more": {args: []string{"restore", "@0", "made.txt", "README.md"}, meanwhile: wrote, more: true},
		"fork":                                {args: []string{"fork", "@0", "--restore"}},
		"fork, a turn without files":          {args: []string{"fork", "@0", "--restore"}, meanwhile: said, again: true},
		"fork, a turn with a file":            {args: []string{"fork", "@0", "--restore"}, meanwhile: wrote, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := worked(t)
			p.write("../said.toml", "[[reply]]\nmessage = \"Said.\"\ntimes = 9\n")
			p.write("../wrote.toml", "[[reply]]\nmessage = \"Before.\"\ntimes = 2\n[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"more.txt\", content = \"more\\n\" }\n[[reply]]\nmessage = \"Wrote.\"\n")
			s := p.sit(100, test.args...)
			s.WaitFor("Would put back 2 files")
			s.prompted()
			if test.meanwhile != "" {
				out := p.jp("query", "-y", "-m", "script/../"+test.meanwhile, "More")
				require.Zero(t, out.exit, out.stderr)
				require.Equal(t, test.meanwhile == wrote, p.read("more.txt") != "")
			}
			s.Type("y")
			if test.again {
				s.WaitFor("The conversation has changed since jp asked.")
				if test.meanwhile == wrote {
					s.WaitFor("Would put back 3 files")
				}
				s.prompted()
				s.Type("y")
			}
			require.Zero(t, s.exit(), s.Text())
			require.Equal(t, test.again, strings.Contains(s.Text(), "has changed since"))
			require.Empty(t, p.read("made.txt"))
			require.Equal(t, "# A repository\n", p.read("README.md"))
			require.Equal(t, test.more, p.read("more.txt") != "")
			require.Zero(t, p.jp("verify", "--all").exit)
		})
	}
}

func TestUndoOfABusyConversation(t *testing.T) {
	t.Parallel()
	b := waiting(t)
	for _, args := range [][]string{{"undo", "-y"}, {"restore", "-y", "@0"}} {
		out := b.jp(append(args, "--json")...)
		require.Equal(t, problem.ExitLocked, out.exit, out.stderr)
		var said struct{ Error struct{ Code string } }
		require.NoError(t, json.Unmarshal([]byte(out.stderr), &said))
		require.Equal(t, "locked", said.Error.Code)
	}
	require.Equal(t, problem.ExitDecision, b.jp("undo", "--dry-run").exit, "its call is open")
	require.Zero(t, b.finish().exit)
	require.Zero(t, b.jp("undo", "-y").exit)
}
