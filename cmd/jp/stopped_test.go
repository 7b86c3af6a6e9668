package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A query in a session without a conversation asks, with one key, whether a stopped turn of this
// working tree goes on first.
func TestANewTerminalOffersWhatStoppedHere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key           string
		exit          int
		turns         string // of the stopped conversation, with its requests
		conversations int
		draft         bool
	}{
		"go on first":   {"c", 0, "Make a file|Where was I?", 1, false},
		"new":           {"n", 0, "Make a file", 2, false},
		"Enter is new":  {"\r", 0, "Make a file", 2, false},
		"Esc leaves":    {"\x1b", 3, "Make a file", 1, true},
		"Ctrl+D leaves": {"\x04", 3, "Make a file", 1, true},
		"Ctrl+C leaves": {"\x03", 130, "Make a file", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../fail.toml", "[[reply]]\nfail = \"auth\"\nfail_times = 1\nmessage = \"Made.\"\n[[reply]]\nmessage = \"Here.\"\n")
			require.Equal(t, 7, p.jp("query", "-m", "script/../fail.toml", "Make a file").exit)
			p.write("../talk.toml", "[[reply]]\nmessage = \"Here.\"\n")
			other := elsewhere(p)
			words := []string{"query", "Where was I?"}
			if name == "new" || name == "Enter is new" {
				words = []string{"query", "-m", "script/../talk.toml", "Where was I?"}
			}
			s := other.sit(100, words...)
			s.WaitFor(`ago: "Make a file" (turn 1)   jp continue `)
			s.prompted()
			if tt.key != "\r" { // right behind a letter it would only end that
				s.Type("?")
				s.WaitFor("The other one stays as it is.")
				s.promptedAgain(2)
			}
			s.Type(tt.key)
			require.Equal(t, tt.exit, s.exit())
			require.Equal(t, tt.conversations, strings.Count(p.jp("ls").stdout, "\n"))
			var asked []string
			for _, e := range p.ofType("chat_request") {
				asked = append(asked, fmt.Sprint(e["content"]))
			}
			require.Equal(t, tt.turns, strings.Join(asked, "|"))
			require.Equal(t, tt.draft, strings.Contains(s.Text(), "Your question is kept."))
			require.Zero(t, p.jp("verify", "--all").exit)
		})
	}
}

// A chooser lists the conversations that the command can act on, and does not ask if there is one.
func TestAChooserListsWhatTheCommandCanActOn(t *testing.T) {
	t.Parallel()
	make := "[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"made.txt\", content = \"x\" }\n[[reply]]\nmessage = \"Over.\"\n"
	begun := func(t *testing.T, waiting int) *workspace {
		p := titled(t, "Idle")
		p.write("../make.toml", make)
		for n := range waiting {
			require.Equal(t, 3, p.jp("query", "--new", "--title", fmt.Sprint("Waits ", n), "--policy", "defer", "-m", "script/../make.toml", "Make").exit)
		}
		require.Zero(t, p.jp("query", "--new", "--title", "Idle too", "-m", "script/../talk.toml", "Hello").exit)
		p = elsewhere(p)
		p.t = t
		return p
	}
	for _, command := range []string{"answer", "continue", "discard"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := begun(t, 2)
			s := p.sit(100, command)
			s.WaitFor("Which conversation?")
			s.Wait("the newest one first", func() bool { return chosenLine(s, "Waits 1") })
			require.Contains(t, s.Text(), "Waits 0")
			require.NotContains(t, s.Text(), "Idle")
			s.Type("\x1b")
			require.Equal(t, 130, s.exit())
		})
		t.Run(command+" with one", func(t *testing.T) {
			t.Parallel()
			p := begun(t, 1)
			s := p.sit(100, command)
			if command != "discard" {
				s.WaitFor("create made.txt")
				s.prompted()
				s.Type("n")
			}
			s.exit()
			require.NotContains(t, s.Text(), "Which conversation?")
			require.NotContains(t, p.jp("ls").stdout, "waiting")
		})
		t.Run(command+" with none", func(t *testing.T) {
			t.Parallel()
			p := begun(t, 0)
			s := p.sit(100, command)
			require.Equal(t, 2, s.exit())
			require.Contains(t, s.Text(), "this session has no conversation yet")
			require.NotContains(t, s.Text(), "Which conversation?")
		})
	}
	t.Run("attach", func(t *testing.T) {
		t.Parallel()
		p := begun(t, 1)
		out := p.jp("query", "--new", "--detach", "--title", "Runs", "--policy", "queue", "-m", "script/../make.toml", "Make")
		require.Zero(t, out.exit, out.stderr)
		other := *p
		other.environ = append(p.environ[:len(p.environ):len(p.environ)], "JP_SESSION=third")
		s := other.sit(100, "attach")
		s.WaitFor("create made.txt")
		s.prompted()
		s.Type("n")
		require.Zero(t, s.exit())
		require.NotContains(t, s.Text(), "Which conversation?")
	})
}

// status opens no chooser, at a terminal too.
func TestStatusOpensNoChooser(t *testing.T) {
	t.Parallel()
	p := elsewhere(titled(t, "The first", "The second"))
	p.t = t
	s := p.sit(80, "status")
	require.Zero(t, s.exit())
	require.Contains(t, s.Text(), "This session has no conversation yet.")
	require.NotContains(t, s.Text(), "Which conversation?")
}
