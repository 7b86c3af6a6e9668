package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chatScript answers slowly enough to type meanwhile, until a file is there, and then quickly.
const chatScript = `
[[reply]]
message = "The first answer has so many words that it takes more than one line of the terminal."
chunk_size = 4
chunk_delay = "20ms"
[[reply]]
message = "The second answer."
[[reply]]
message = "The third answer."
`

// talk is a place, and a jp in it with which a person talks.
func talk(t *testing.T, columns int, script string, args ...string) (*place, *sitting) {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", script)
	return p, p.chat(columns, args...)
}

// chat is a jp at its prompt.
func (p *place) chat(columns int, args ...string) *sitting {
	p.t.Helper()
	s := p.sit(columns, append([]string{"chat", "-m", "script/../talk.toml"}, args...)...)
	s.prompted()
	return s
}

// line is what the line says that the person edits: the last one of the screen.
func (s *sitting) line() string {
	text := s.Text()
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// idle waits until no turn runs any more.
func (s *sitting) idle() {
	s.place.t.Helper()
	s.WaitForEnd("\n\n>")
}

// waitLine waits for the text of that line.
func (s *sitting) waitLine(text string) {
	s.place.t.Helper()
	s.Wait("the line "+text, func() bool { return s.line() == text })
}

// A whole conversation: two turns of one conversation, between which another process asks.
func TestChat(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 60, chatScript)
	require.Contains(t, s.Text(), "new conversation · ")
	s.Type("First?")
	s.waitLine("> First?")
	s.Type("\r")
	s.WaitFor("no files changed")
	s.idle()
	require.Contains(t, s.Text(), "> First?\njp-c")
	require.Contains(t, strings.ReplaceAll(s.Text(), "\n", " "), "The first answer has so many words that it takes more than one line of the terminal.")
	require.Zero(t, p.jp("query", "Between?").exit, "nobody holds the conversation")
	s.Type("Second?\r")
	s.WaitFor("The third answer.")
	s.idle()
	s.Type("\x04")
	require.Zero(t, s.exit())
	requests := p.ofType("chat_request")
	require.Len(t, requests, 3)
	require.Equal(t, "Second?", requests[2]["content"])
	require.NotContains(t, s.Raw(), "\x1b[?1049h", "it stays in the terminal's own scrollback")
	require.LessOrEqual(t, widest(s), 60)
}

// What is typed while an answer streams stays in the line, and reaches no line of the answer.
func TestChatTypedMeanwhile(t *testing.T) {
	t.Parallel()
	_, s := talk(t, 60, chatScript)
	s.Type("First?\r")
	s.WaitFor("The first")
	for _, key := range strings.Split("meanwhile", "") {
		s.Type(key)
	}
	s.WaitFor("no files changed")
	s.waitLine("> meanwhile")
	require.Contains(t, s.Text(), "The first answer has so many words that it takes more than\none line of the terminal.\n")
	require.Equal(t, 1, strings.Count(s.Text(), "meanwhile"))
}

// Keys that edit, and keys that leave.
func TestChatKeys(t *testing.T) {
	t.Parallel()
	const altEnter = "\x1b\r"
	for name, tt := range map[string]struct{ keys, line string }{
		"a line break":                {"one" + altEnter + "two", "> one\n  two"},
		"a backslash":                 {"one\\", "> one\\"},
		"Ctrl+C empties":              {"one\x03", ">"},
		"an arrow":                    {"oe\x1b[Dn", "> one"},
		"a wide character goes whole": {"日本\x7f", "> 日"},
		"an emoji goes whole":         {"a👩‍👩‍👧\x7f", "> a"},
		"words":                       {"one two\x17three", "> one three"},
		"taken away, and back":        {"one\x15two \x19", "> two one"},
		"a paste":                     {"\x1b[200~one\rtwo\x03\x1b[201~", "> one\n  two"},
		"a paste without marks":       {"one\rtwo", "> one\n  two"},
		"a control sequence":          {"\x1b[200~a\x1b[31mb\x1b[201~", "> ab"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := talk(t, 60, chatScript)
			before := strings.TrimSuffix(s.Text(), ">")
			s.Type(tt.keys)
			s.Wait(tt.line, func() bool { return s.Text() == before+tt.line })
		})
	}
}

func TestChatLeaves(t *testing.T) {
	t.Parallel()
	_, s := talk(t, 60, chatScript)
	s.Type("x\x03") // empties
	s.waitLine(">")
	s.Type("\x03")
	s.WaitFor("Ctrl+C again leaves.")
	s.Type("\x03")
	require.Zero(t, s.exit())
}

// The menu opens over an answer, and what is chosen there ends the turn only.
func TestChatMenu(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"Esc": "\x1b", "Ctrl+C": "\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, 80, thinkingScript)
			s.Type("Cap them\r")
			s.WaitFor("thinking")
			s.Type("later")
			s.waitLine("> later")
			s.Type(key)
			s.WaitFor("s stop (ends the turn)")
			require.Contains(t, s.Text(), "> later", "what was typed stays")
			s.Type("s")
			s.WaitFor("turn 1 · ")
			s.waitLine("> later")
			s.Type("\x15")
			s.idle()
			s.Type("\x04")
			require.Zero(t, s.exit())
			require.Len(t, p.ofType("turn_done"), 1)
		})
	}
}

// A kill, and the loss of the terminal, lose nothing that was typed more than a second ago.
func TestChatKeepsADraft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *sitting){
		"a kill":                   func(s *sitting) { _ = s.cmd.Process.Kill() },
		"the terminal hangs up":    func(s *sitting) { s.Hangup() },
		"the person leaves anyway": func(s *sitting) { s.Type("\x1b[H\x04\x04\x04\x04") }, // it is not empty: this deletes
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, 60, chatScript)
			s.Type("half a thought")
			s.waitLine("> half a thought")
			if name == "the person leaves anyway" {
				end(s)
				s.waitLine(">  a thought")
				_ = s.cmd.Process.Signal(os.Interrupt)
				_ = s.cmd.Wait()
				again := p.sit(60, "chat")
				again.waitLine("> a thought")
				return
			}
			p.awaitDraft("half a thought\n")
			end(s)
			_ = s.cmd.Wait()
			again := p.sit(60, "chat")
			again.waitLine("> half a thought")
		})
	}
}

// awaitDraft waits until the text of a new conversation is kept.
func (p *place) awaitDraft(text string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		kept, err := os.ReadFile(p.dir + "/.git/jp/drafts/new.query")
		return err == nil && string(kept) == text
	}, time.Minute, 10*time.Millisecond)
}

// Without a terminal there is no conversation: jp shows its help, as ever.
func TestChatWithoutATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	require.Contains(t, p.jp().stdout, "Usage:")
	out := p.jp("chat")
	require.Equal(t, 2, out.exit)
	require.Contains(t, out.stderr, "a conversation needs a terminal")
	require.Contains(t, out.stderr, `jp query "…"`)
}

// Bare jp on a terminal is the conversation of the session.
func TestChatBare(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", chatScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "First?").exit)
	s := p.sit(60)
	s.prompted()
	require.Contains(t, s.Text(), "First?\n  The first answer has so many words")
	s.Type("\x1b[A") // what was asked last
	s.waitLine("> First?")
	s.Type("\x1b[B")
	s.waitLine(">")
	s.Type("Second?\r")
	s.WaitFor("The second answer.")
	s.idle()
	s.Type("\x04")
	require.Zero(t, s.exit())
	require.Len(t, p.ofType("chat_request"), 2)
}
