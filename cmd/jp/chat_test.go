package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/safefile"
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
func talk(t *testing.T, columns int, script string, args ...string) (*workspace, *sitting) {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", script)
	return p, p.chat(columns, args...)
}

// chat is a jp at its prompt.
func (p *workspace) chat(columns int, args ...string) *sitting {
	p.t.Helper()
	s := p.sit(columns, append([]string{"chat", "-m", "script/../talk.toml"}, args...)...)
	s.prompted()
	return s
}

// line is the person's line: the last one of the screen.
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
	require.Regexp(t, `^jp \S+ · script/../talk\.toml\n(?:\S+\n)*\S+(?: · |\n)main(?: · |\n)asks\n`, s.Text())
	s.Type("First?")
	s.waitLine("> First?")
	s.Type("\r")
	s.WaitFor("no files changed")
	s.idle()
	s.WaitFor("> First?\njp-c")
	require.Contains(t, strings.ReplaceAll(s.Text(), "\n", " "), "The first answer has so many words that it takes more than   one line of the terminal.")
	require.Zero(t, p.jp("query", "Between?").exit, "the conversation is free between turns")
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

// The line stands in a frame, and below it the settings of the next request, as far as there is room.
func TestChatFrame(t *testing.T) {
	t.Parallel()
	for columns, bottom := range map[int]string{80: " asks ⇧⇥ · talk.toml · main                                 / commands · ? keys", 24: " asks ⇧⇥ · talk.toml"} {
		p := newPlace(t)
		p.write("../talk.toml", chatScript)
		s := p.sit(columns, "chat", "-m", "script/../talk.toml")
		s.View = nil
		rule := "\n" + strings.Repeat("─", columns-1) + "\n"
		s.WaitForEnd(rule + "❯" + rule + bottom)
		s.Type("?")
		s.WaitFor("  Shift+Tab  mode")
		s.Type("\x7f\x1b[Z\x1b[Z")
		s.WaitForEnd(rule + "❯" + rule + strings.Replace(bottom, "asks", "plan", 1))
		require.NotContains(t, s.Text(), "Shift+Tab")
	}
}

// Text typed while an answer streams stays in the line, and reaches no line of the answer.
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
	s.WaitFor("  The first answer has so many words that it takes more than\n  one line of the terminal.\n")
	s.Wait("the typed text once", func() bool { return strings.Count(s.Text(), "meanwhile") == 1 })
}

// Keys that edit, and keys that leave.
func TestChatKeys(t *testing.T) {
	t.Parallel()
	const altEnter = "\x1b\r"
	for name, tt := range map[string]struct{ keys, line string }{
		"a line break":                {"one" + altEnter + "two", "> one\n  two"},
		"a backslash":                 {"one\\", "> one\\"},
		"Ctrl+C empties":              {"one\x03", ">"},
		"emptied, and back":           {"one\ntwo\x03\x19", "> one\n  two"},
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

// The menu opens over an answer, and leaves the screen without a trace. A choice there ends only the
// turn. Ctrl+C in an empty line does so at once.
func TestChatMenu(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ keys, line string }{
		"Esc, and what was typed stays": {"\x1bs", "> later"},
		"Esc, and Enter goes on":        {"\x1b\r\x1bs", "> later"},
		"Ctrl+C, and again":             {"\x03\x03", ">"}, // the first one empties the line
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, 80, thinkingScript)
			s.Type("Cap them\r")
			s.WaitFor("thinking")
			s.WaitFor("Esc menu")
			s.Type("later")
			s.waitLine("> later")
			for _, key := range strings.Split(tt.keys, "") {
				s.Type(key)
				switch key {
				case "\x1b":
					s.WaitFor("s stop (ends the turn)")
					s.WaitFor(tt.line)
				case "\r":
					s.Wait("the menu closes", func() bool { return !strings.Contains(s.Text(), "s stop") })
				}
			}
			s.WaitFor("turn 1 · ")
			s.waitLine(tt.line)
			s.Type("\x15")
			s.idle()
			require.NotContains(t, s.Text(), "s stop")
			require.NotContains(t, s.Text(), "The model is answering")
			s.Type("\x04")
			require.Zero(t, s.exit())
			require.Len(t, p.ofType("turn_done"), 1)
		})
	}
}

// A kill, and the loss of the terminal, lose no text that was typed more than a second ago.
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

// Two terminals with new conversations keep a draft each.
func TestChatKeepsADraftOfEachTerminal(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 60, chatScript)
	other := p.chat(60)
	for text, at := range map[string]*sitting{"one": s, "two": other} {
		at.Type(text)
		at.waitLine("> " + text)
	}
	p.awaitDraft("one\n")
	p.awaitDraftIn("new-2.query", "two\n")
	for _, at := range []*sitting{s, other} {
		_ = at.cmd.Process.Kill()
		_ = at.cmd.Wait()
	}
	p.sit(60, "chat").waitLine("> one")
	p.sit(60, "chat").waitLine("> two")
}

// awaitDraft waits until the text of a new conversation is kept.
func (p *workspace) awaitDraft(text string) {
	p.t.Helper()
	p.awaitDraftIn("new.query", text)
}

func (p *workspace) awaitDraftIn(file, text string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		kept, err := os.ReadFile(p.dir + "/.git/jp/drafts/" + file)
		return err == nil && string(safefile.Unsealed(kept)) == text
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

// A person without a key learns the next step in six lines of a usual terminal, before they type
// anything.
func TestChatWithoutAModel(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, args := range [][]string{nil, {"chat"}, {"query", "Hello"}} {
		s := p.sit(80, args...)
		require.Equal(t, 2, s.exit(), s.Text())
		lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(s.Text()), "\n\n", "\n"), "\n")
		require.Len(t, lines, 6)
		require.Contains(t, lines[0], "no model to ask")
		require.Contains(t, s.Text(), "    export ANTHROPIC_API_KEY=…")
		require.Contains(t, s.Text(), "jp query -m script/demo")
		require.Contains(t, s.Text(), "jp chat -m script/demo")
	}
	p.sit(80, "--cfg", "model=ollama/x").prompted()
	p.sit(80, "chat", "-m", "script/demo").prompted()
}

// The start screen has the last rows of the last answer, laid out as it was when the model said it.
func TestChatStartsWithTheLastAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../list.toml", "[[reply]]\nmessage = '''\nOne\n\n- **two**\n- three\n- four\n- five\n- six is a line that is longer than the terminal is\n'''\n")
	require.Zero(t, p.jp("query", "-m", "script/../list.toml", "First?").exit)
	for columns, want := range map[int]string{
		80: "  One\n\n  • two\n  • three\n  • four\n  • five\n  • six is a line that is longer than the terminal is\n",
		48: "  • three\n  • four\n  • five\n  • six is a line that is longer than the\n    terminal is\n",
	} {
		s := p.sit(columns)
		s.prompted()
		require.Contains(t, s.Text(), want)
		require.LessOrEqual(t, widest(s), columns)
	}
}

// Bare jp on a terminal is the conversation of the session.
func TestChatBare(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", chatScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "First?").exit)
	s := p.sit(60)
	s.prompted()
	require.Contains(t, s.Text(), "> First?\n\n  The first answer has so many words")
	s.Type("\x1b[A") // the last request
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

// The first line names the model that the next request asks: the one of the command line, or the recorded one.
func TestChatNamesTheModel(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"talk", "other"} {
		p.write("../"+name+".toml", chatScript)
	}
	p.configure("[aliases]\nother = \"script/../other.toml\"\n[profiles.careful]\nmodel = \"script/../careful.toml\"\n")
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "First?").exit)
	for args, model := range map[string]string{
		"":                         "script/../talk.toml",
		"chat -m script/demo":      "script/demo",
		"chat -m other":            "script/../other.toml",
		"chat -p careful":          "script/../careful.toml",
		"chat -p plan":             "script/../talk.toml",
		"chat -p careful -m other": "script/../other.toml",
		"chat -p careful -p plan":  "script/../careful.toml",
		"chat --plain -m other":    "script/../other.toml",
	} {
		s := p.sit(200, strings.Fields(args)...)
		s.WaitForEnd(">")
		require.Regexp(t, `^jp \S+ · `+regexp.QuoteMeta(model)+`\n`, s.Text(), args)
	}
}

// The bottom line names the model of the next request as soon as the person has chosen it.
func TestChatShowsTheChosenModel(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"talk", "other", "careful"} {
		p.write("../"+name+".toml", chatScript)
	}
	p.configure("[profiles.careful]\nmodel = \"script/../careful.toml\"\n")
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "First?").exit)
	s := p.sit(80)
	s.View = nil
	s.WaitFor(" · talk.toml · main")
	for _, step := range [][2]string{
		{"/profile careful", "careful"}, {"/profile none", "talk"}, {"/model script/../other.toml", "other"}, {"Second?", "other"},
	} {
		s.Type(step[0] + "\r")
		s.WaitFor(" · " + step[1] + ".toml · main")
	}
}

// queueScript runs a tool until a file is there.
const queueScript = `
[[reply]]
message = "I wait."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo begun; until test -e go; do sleep 0.05; done"] }
[[reply]]
message = "The tool has ended."
[[reply]]
message = "And this is the next turn."
`

// answers types a key at a question whose text has this end.
func (s *sitting) answers(end, key string) {
	s.place.t.Helper()
	s.WaitForEnd(end + "\n>")
	s.Type(key)
}

// waits starts the tool of queueScript.
func (s *sitting) waits() {
	s.place.t.Helper()
	s.Type("Wait\r")
	s.answers("? help", "y")
	s.WaitFor("\n  begun")
}

// contents are the texts of the place's requests.
func (p *workspace) contents() (texts []string) {
	p.t.Helper()
	for _, e := range p.ofType("chat_request") {
		texts = append(texts, e["content"].(string))
	}
	return texts
}

// A text that is entered at a question is a message. The screen says that the question is still open.
func TestChatQueueAtAQuestion(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 48} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, width, overwriteScript)
			s.Type("Write it\r")
			s.WaitForEnd("? help\n>")
			s.Type("no, because\r")
			s.WaitForEnd("? help\n>\nqueued: no, because\nthe question above is still open")
			require.Empty(t, p.ofType("inquiry_response"))
			s.Type("n")
			s.WaitFor("you said no")
			s.WaitFor("> no, because")
			s.Wait("no question", func() bool { return !strings.Contains(s.Text(), "still open") })
		})
	}
}

// A message that is entered while a tool runs goes to the model behind the tool's result.
func TestChatQueue(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, queueScript)
	s.waits()
	s.Type("first\r")
	s.WaitFor("queued: first\n>")
	s.Type("second\r")
	s.WaitFor("queued: second\n>")
	s.Type("\x1b[A") // it comes back
	s.waitLine("> second")
	s.Wait("the message no longer queued", func() bool { return !strings.Contains(s.Text(), "queued: second") })
	s.Type(", changed\r")
	s.WaitFor("queued: second, changed\n>")
	p.write("go", "")
	s.WaitFor("The tool has ended.")
	s.idle()
	s.WaitFor("> first\n\n> second, changed\n\n  The tool has ended.")
	s.Wait("an empty queue", func() bool { return !strings.Contains(s.Text(), "queued:") })
	s.Type("\x04")
	require.Zero(t, s.exit())
	require.Equal(t, []string{"Wait", "first", "second, changed"}, p.contents())
	require.Len(t, p.ofType("turn_done"), 1)
	require.NoFileExists(t, p.queueFile())
}

func (p *workspace) queueFile() string {
	p.t.Helper()
	id := p.events()[0]["conversation"].(string)
	return p.dir + "/.git/jp/drafts/" + id + ".queue"
}

// The menu sends a message at once: the tool ends.
func TestChatQueueAtOnce(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"entered": "\r", "in the line": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, 80, queueScript)
			s.waits()
			s.Type("now" + keys)
			if keys != "" {
				s.WaitFor("queued: now\n>")
			} else {
				s.waitLine("> now")
			}
			s.Type("\x1b")
			s.WaitFor("r send your message now (ends the tool)")
			s.Type("r")
			s.WaitFor("The tool has ended.")
			s.idle()
			require.Equal(t, []string{"Wait", "now"}, p.contents())
		})
	}
}

// A second Esc stops the turn.
func TestChatEscTwiceStops(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, queueScript)
	s.waits()
	s.Type("\x1b")
	s.WaitFor("s stop the turn")
	require.Eventually(t, func() bool {
		s.Type("\x1b") // on a slow machine, the next one is the second
		return len(p.ofType("turn_stopped")) > 0
	}, time.Minute, 300*time.Millisecond)
}

// A reply at the menu stands above the model's answer to it, as any words of the person do.
func TestChatReplyAtTheMenu(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 48} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, columns, longScript)
			s.Type("Tell me\r")
			s.WaitFor("There was a")
			s.Type("\x1b")
			s.WaitFor("r reply")
			s.Type("r")
			s.WaitForEnd("Your reply:")
			s.Type("Be short\r")
			s.WaitFor("…(cut off)\n> Be short\n\n  Once upon a time.")
			s.WaitFor("\nturn 1 · ")
			s.idle()
			require.Equal(t, 1, strings.Count(s.Text(), "Be short"))
			require.Equal(t, []string{"Tell me", "Be short"}, p.contents())
		})
	}
}

// A chat that has the conversation open and is idle shows a turn that runs elsewhere: one in the
// background while it runs, with its questions, and one of another terminal when it has ended. Typed
// text stays in the line, and entered text goes to the turn.
func TestChatShowsTurnsOfOthers(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, strings.ReplaceAll(chatScript, "20ms", "0ms"))
	s.Type("First?\r")
	s.WaitFor("turn 1 · ")
	s.idle()
	s.Type("half a line")
	s.waitLine("> half a line")
	require.Zero(t, p.jp("query", "Second?").exit)
	s.WaitForEnd("\n> Second?\n\n  The second answer.\nturn 2 done: 1 call, 2.7k in, 5 out, " + took(s) + "\n\n> half a line")
	p.write("../talk.toml", queueScript)
	require.Zero(t, p.jp("query", "--detach", "--new", "-m", "script/../talk.toml", "Elsewhere").exit, "another conversation")
	require.NotContains(t, s.Text(), "Elsewhere")
}

// took is the time of the newest turn on the screen.
func took(s *sitting) string {
	var found []string
	s.Wait("the end of a turn", func() bool {
		found = regexp.MustCompile(`out, ([\d.]+ m?s)\n`).FindStringSubmatch(s.Text())
		return found != nil
	})
	return found[1]
}

func TestChatFollowsTheBackground(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 48} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, columns, "[[reply]]\nmessage = \"Hi.\"\n"+queueScript)
			s.Type("First?\r")
			s.WaitFor("turn 1 · ")
			s.idle()
			s.Type("half")
			s.waitLine("> half")
			id := p.events()[0]["conversation"].(string)
			out := p.jp("send", id, "From elsewhere")
			require.Zero(t, out.exit, out.stderr)
			s.WaitFor("> From elsewhere\n\n  I wait.")
			s.waitLine("Tab: answer the question above")
			s.Type("\t")
			s.Wait("the key is for the question", func() bool { return !strings.Contains(s.Text(), "Tab: answer") })
			s.Type("y")
			s.WaitFor("\n  begun")
			s.waitLine("> half")
			s.Type(" a message\r")
			s.waitLine(">")
			s.Type("\x1b")
			s.WaitFor("d detach")
			s.Type("\r")
			s.Wait("the menu closes", func() bool { return !strings.Contains(s.Text(), "d detach") })
			p.write("go", "")
			s.WaitFor("> half a message\n\n  The tool has ended.\nturn 2 done: ")
			s.idle()
			s.Type("Third\r")
			s.WaitFor("And this is the next turn.\nturn 3 · ")
			require.Equal(t, 1, strings.Count(s.Text(), "From elsewhere"))
			require.Equal(t, []string{"First?", "From elsewhere", "half a message", "Third"}, p.contents())
		})
	}
}

// A chat that opens on a conversation, or goes on in one, shows the turn that runs there in the background, and asks its questions.
func TestChatOpensOnARunningTurn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		columns int
		plain   bool
		use     bool // from another conversation
	}{
		"80":    {80, false, false},
		"48":    {48, false, false},
		"/use":  {80, false, true},
		"plain": {80, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, id := inBackground(t, queueScript)
			p.waits()
			args := []string{"chat", "--cfg", "style.plain=" + strconv.FormatBool(tt.plain)}
			if tt.use {
				require.Zero(t, p.jp("query", "--new", "-m", "script/demo", "Another").exit)
			}
			s := p.sit(tt.columns, args...)
			if tt.use {
				s.idle()
				s.Type("/use " + string(id) + "\r")
			}
			s.WaitForEnd("? help\n>")
			require.Eventually(t, func() bool { // an answer may come before the process has noticed that a person is there
				if strings.HasSuffix(s.Text(), "? help\n>") {
					s.Type("y")
				}
				return len(p.ofType("inquiry_response")) > 0
			}, time.Minute, time.Second)
			if !tt.plain {
				s.WaitFor("\n  begun")
				s.Type("a message\r")
				s.waitLine(">")
			}
			p.write("go", "")
			s.WaitFor("The tool has ended.")
			s.WaitFor("turn 1 done: ")
			s.idle()
			s.Type("Third\r")
			s.WaitFor("And this is the next turn.")
			require.Equal(t, 1, strings.Count(s.Text(), "I wait."))
			require.NotContains(t, s.Text(), "another process")
			require.Equal(t, map[bool][]string{true: {"Do it", "Third"}, false: {"Do it", "a message", "Third"}}[tt.plain], p.contents())
		})
	}
}

// A request that waited until an interrupted turn was finished stands right above its answer.
func TestChatAsksBehindAResumedTurn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", "[[reply]]\nmessage = \"The late answer.\"\nhang = true\nchunk_size = 4\n")
	s := p.chat(80)
	s.Type("First\r")
	s.WaitFor("The late")
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	p.write("../talk.toml", "[[reply]]\nmessage = \"The late answer.\"\n[[reply]]\nmessage = \"The next answer.\"\n")
	p.write("README.md", "changed meanwhile\n")
	s = p.sit(80)
	s.idle()
	s.Type("Second\r")
	s.WaitForEnd("?  help\n>")
	s.Type("r")
	s.WaitFor("\n  The late answer.\n\n> Second\n\n  The next answer.\nturn 2 · ")
	require.Equal(t, []string{"First", "Second"}, p.contents())
}

// A new chat leaves no row of a killed one below its line.
func TestChatClearsTheScreenBelow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("chat", "-m", "script/demo")
	cmd.Args = append([]string{"sh", "-c", `printf 'above\nold rows\nold rows\nold rows\n\033[3A'; exec "$0" "$@"`}, cmd.Args...)
	cmd.Args[3], cmd.Path = cmd.Path, "/bin/sh"
	s := p.sitWith(80, cmd)
	s.prompted()
	require.Contains(t, s.Text(), "above\njp ")
	require.NotContains(t, s.Text(), "old rows")
}

// The text of an answer stands once behind the menu, and once after the menu.
func TestChatMenuBelowAnAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ key, end string }{
		"Enter goes on": {"\r", "the middle of it."},
		"s stops":       {"s", "…(cut off)"},
	} {
		for _, columns := range []int{80, 48} {
			t.Run(fmt.Sprint(name, " at ", columns), func(t *testing.T) {
				t.Parallel()
				_, s := talk(t, columns, longScript)
				s.Type("Tell me\r")
				s.WaitFor("There was a")
				s.Type("\x1b")
				s.WaitFor("s stop (ends the turn)")
				require.Equal(t, 1, strings.Count(s.Text(), "There was a"), "while the menu is open")
				s.Type(tt.key)
				s.WaitFor("turn 1 · ")
				text := strings.Join(strings.Fields(s.Text()), " ")
				require.Contains(t, text, tt.end)
				require.Equal(t, 1, strings.Count(text, "There was a"), text)
				require.NotContains(t, text, "The model is answering")
			})
		}
	}
}

// Text typed while the first turn of a conversation works belongs to that conversation.
func TestChatKeepsADraftOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, queueScript)
	s.waits()
	s.Type("half a thought")
	s.waitLine("> half a thought")
	draft := strings.TrimSuffix(p.queueFile(), "queue") + "query"
	s.Wait("the draft", func() bool {
		kept, err := os.ReadFile(draft)
		return err == nil && string(safefile.Unsealed(kept)) == "half a thought\n"
	})
	require.NoFileExists(t, p.dir+"/.git/jp/drafts/new.query")
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	again := p.sit(80)
	again.waitLine("> half a thought")
}

// A message that comes after the answer is a turn of its own.
func TestChatQueueBehindAnAnswer(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, chatScript)
	s.Type("First?\r")
	s.WaitFor("The first")
	s.Type("Second?\r")
	s.WaitFor("The second answer.")
	s.idle()
	require.Equal(t, []string{"First?", "Second?"}, p.contents())
	require.Len(t, p.ofType("turn_done"), 2)
}

// Ctrl+C in a line with text empties it, also below a question and behind a queued message: the question stays.
func TestChatEmptiesTheLineAtAQuestion(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, queueScript)
	s.Type("Wait\r")
	s.WaitForEnd("? help\n>")
	s.Type("not this")
	s.waitLine("Tab: answer the question above")
	s.Type("\x03")
	s.answers("? help", "y")
	s.WaitFor("\n  begun")
	s.Type("first\r")
	s.WaitFor("queued: first\n>")
	s.Type("not that\x03")
	s.WaitForEnd("queued: first\n>")
	p.write("go", "")
	s.WaitFor("The tool has ended.")
	s.idle()
	require.Equal(t, []string{"Wait", "first"}, p.contents())
	require.Len(t, p.ofType("turn_done"), 1)
}

// A kill makes a draft of the waiting messages, and of the text that was being typed.
func TestChatQueueAfterAKill(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, queueScript)
	s.waits()
	s.Type("queued one\r")
	s.WaitFor("queued: queued one\n>")
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	again := p.sit(80)
	again.waitLine("> queued one")
	require.Contains(t, again.Text(), "interrupted")
	require.NoFileExists(t, p.queueFile())
}

func TestChatCommands(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, makeScript)
	do := func(command string, shown ...string) {
		t.Helper()
		s.Type("\x15" + command + "\r")
		for _, text := range shown {
			s.WaitFor(text)
		}
		s.idle()
	}
	do("/new", "$ jp query --new\nThe next request starts a new conversation.")
	do("/clear", "> /clear\n$ jp query --new\nThe next request starts a new conversation.")
	for _, prompt := range []string{"edits >", "plan >", "auto >", ">"} {
		s.Type("\x1b[Z")
		s.waitLine(prompt)
	}
	s.Type("Make them\r")
	s.WaitForEnd("? help\n>")
	s.Type("/mode edits")
	s.waitLine("Tab: answer the question above")
	s.Type("\r")
	s.WaitFor("A command waits until the turn has ended.")
	s.Type("\x15")
	s.answers("? help", "y")
	s.WaitFor("call 2 of 2")
	s.answers("? help", "y")
	s.WaitFor("Over.")
	s.idle()
	do("/diff --stat", "$ jp diff --stat", "made.txt")
	do("/undo -y", "$ jp undo -y")
	require.NoFileExists(t, p.dir+"/made.txt", s.Text())
	do("/fork", "$ jp fork --activate", "Forked jp-c")
	do("/ls", "$ jp ls")
	do("/tools", "  on  fs_create_file")
	do("/tools -shell_run git_commit", "$ jp query --no-tool shell_run --tool git_commit")
	p.write("other.toml", chatScript)
	do("/model script/other.toml", "$ jp query --model script/other.toml")
	require.NoError(t, os.Remove(p.dir+"/other.toml"))
	s.Type("\x15/nothing\r")
	s.WaitFor("\n>\nThere is no command /nothing. /help lists them. Ctrl+Y brings the text back.")
	s.Type("\x19")
	s.waitLine("> /nothing")
	s.Type("\x15/he\t")
	s.waitLine("> /help")
	s.Type("\x15\x1b[200~/quit\x1b[201~\r") // a paste is text
	s.WaitFor("Error: ")
	s.WaitFor("other.toml")
	s.waitLine("> /quit")
	s.Type("\x15/exit\r")
	require.Zero(t, s.exit())
}

// jp refuses an unknown model or tool as soon as it is named, and keeps the former choice.
func TestChatRefusesAtOnce(t *testing.T) {
	t.Parallel()
	for command, says := range map[string][]string{
		"/tools nosuch":                {`there is no tool "nosuch".`, "/tools lists those that there are."},
		"/tools -nosuch":               {`there is no tool "nosuch".`},
		"/tools -shell_run nosuch":     {`there is no tool "nosuch".`},
		"/model nosuch/x":              {`there is no provider "nosuch".`, "jp models "},
		"/model foo":                   {`"foo" is not a model`, "jp models "},
		"/model script/../nofile.toml": {"nofile.toml"},
		"/model anthropic/x":           {"there is no key for anthropic", "export ANTHROPIC_API_KEY=…"},
		"/model one two":               {"/model takes one name."},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			_, s := talk(t, 120, chatScript)
			s.Type(command + "\r")
			s.WaitFor("Error: ")
			for _, text := range says {
				s.WaitFor(text)
			}
			s.idle()
			s.Type("/tools\r")
			s.WaitFor("  on  shell_run")
			s.idle()
			s.Type("First?\r")
			s.WaitFor("no files changed")
		})
	}
	for says, flags := range map[string][]string{
		`there is no tool "nosuch".`: {"-m", "script/demo", "-t", "nosuch"},
		"nofile.toml":                {"-m", "script/../nofile.toml"},
		`"nobody"`:                   {"-m", "nobody/model"},
	} {
		s := newPlace(t).sit(80, append([]string{"chat"}, flags...)...)
		require.Equal(t, 2, s.exit(), flags)
		require.Contains(t, s.Text(), says)
	}
}

// The whole text of /help is on one screen of 24 rows, and so are the keys below a lone ?, which Esc
// closes. In fewer columns no key is cut.
func TestChatHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 48} {
		_, s := talk(t, columns, chatScript)
		s.Type("?")
		s.WaitFor("draw the screen again")
		for _, text := range []string{"Enter      ask; queue while it works", "Ctrl+V     attach a copied picture", "Ctrl+C     empty; stop; twice: leave"} {
			require.Contains(t, s.Text(), "  "+text)
		}
		s.Type("\x1b") // closes the list
		s.Wait("the list closes", func() bool { return s.line() == ">" })
		s.Type("/help\r")
		s.WaitFor("> /help\n")
		s.idle()
		if columns == 48 {
			s.WaitFor("  ? in an empty line shows the keys")
		} else {
			s.WaitFor("Ctrl+L     draw the screen again")
			for _, text := range []string{"/new  /use [ID]", "/theme [auto|dark|light|none]", "  Enter  "} {
				require.Contains(t, s.Text(), text)
			}
		}
	}
}

// A named file goes along. A doubtful one goes along only after a yes.
func TestChatMentions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, asks string
		says       string
		keys       string
		attached   int
	}{
		"in the tree":           {text: "See @README.md.", attached: 1},
		"completed":             {text: "See @READ\t", attached: 1},
		"no file":               {text: "Ask @nobody", says: "There is no file nobody. jp sends the words as you typed them."},
		"with a blank":          {text: `See @"a file.txt", please`, attached: 1},
		"a blank, completed":    {text: "See @a\t", attached: 1},
		"an address":            {text: "Ask me@README.md"},
		"a secret's name":       {text: "See @.env", asks: "/repo/.env? It is named like a secret.", keys: "n"},
		"outside":               {text: "See @../outside.txt", asks: "/outside.txt? It is outside of the working tree.", keys: "y", attached: 1},
		"a link that leads out": {text: "See @link", asks: "/outside.txt? It is outside of the working tree.", keys: "n"},
		"ignored":               {text: "See @ignored.txt", asks: "/repo/ignored.txt? It is ignored by git.", keys: "y", attached: 1},
		"pasted":                {text: "\x1b[200~See @README.md\x1b[201~"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, 200, chatScript)
			p.write(".env", "A=b\n")
			p.write("a file.txt", "a\n")
			p.write(".gitignore", "ignored.txt\n")
			p.write("ignored.txt", "ignored\n")
			p.write("../outside.txt", "outside\n")
			require.NoError(t, os.Symlink("../outside.txt", p.dir+"/link"))
			s.Type(tt.text)
			switch tt.text {
			case "See @READ\t":
				s.waitLine("> See @README.md")
			case "See @a\t":
				s.waitLine(`> See @"a file.txt"`)
			}
			s.Type("\r")
			if tt.asks != "" {
				s.WaitFor(tt.asks)
				s.answers("Esc do not ask", tt.keys)
			}
			s.WaitFor("no files changed")
			s.WaitFor(tt.says)
			s.idle()
			attached, _ := p.ofType("chat_request")[0]["attachments"].([]any)
			require.Len(t, attached, tt.attached)
		})
	}
}

// Shift+Tab goes from mode to mode; with edits a file tool asks nothing.
func TestChatModes(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, makeScript)
	for _, prompt := range []string{"edits >", "plan >", "auto >", ">", "edits >"} {
		s.Type("\x1b[Z")
		s.waitLine(prompt)
	}
	s.Type("Make them\r")
	s.WaitFor("Over.")
	require.FileExists(t, p.dir+"/made.txt")
	require.NotContains(t, s.Text(), "y yes")
}

// A stricter mode holds at once, also for a call that the person allows after that.
func TestChatTightensInATurn(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, makeScript)
	s.Type("Make them\r")
	s.answers("? help", "\x1b[Z\x1b[Z")
	s.WaitForEnd("? help\n>\nMode of this turn from now on: plan")
	s.Type("y")
	s.WaitFor("not run: plan mode")
	s.WaitFor("plan >\nMode of this turn")
	require.NoFileExists(t, p.dir+"/made.txt")
	require.NotContains(t, s.Text(), "declined")
}

// A plan reads only, until the person accepts it.
func TestChatGoOnLiftsThePlan(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", chatScript)
	s := p.sit(80, "chat", "-m", "script/../talk.toml", "-p", "plan")
	s.waitLine("plan >")
	s.Type("First?\r")
	s.WaitFor("no files changed")
	s.waitLine("plan >")
	s.Type("Go on.\r")
	s.WaitFor("turn 2 · ")
	s.idle()
	s.waitLine(">")
	s.Type("/mode fast\r")
	s.WaitFor(`invalid mode "fast" (want plan, edits, auto or none).`)
	s.Type("\x15/mode edits\r")
	s.waitLine("edits >")
	s.Type("\x15/profile nothing\r")
	s.WaitFor(`there is no profile "nothing" (want one of plan, edits, auto, none).`)
	s.Type("\x15/attach nothing\r")
	s.WaitFor("jp could not attach nothing: no such file or directory.")
	require.Equal(t, []string{"First?", "Go on."}, p.contents())
}

// A skill is a command, and a file is found by a part of its name.
func TestChatOffersSkillsAndFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", chatScript)
	p.write("../home/.agents/skills/release-notes/SKILL.md", "---\nname: release-notes\ndescription: Write the notes of a release.\n---\nName the changes.\n")
	p.write("deep/down/unusual_name.go", "package down\n")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "files")
	s := p.chat(80)
	s.Type("/rel")
	s.WaitFor("/release-notes Write the notes of a release.")
	s.Type("\t")
	s.waitLine("> /release-notes")
	s.Type("for @usual_na\t")
	s.waitLine("> /release-notes for @deep/down/unusual_name.go")
	s.Type("\r")
	s.WaitFor("no files changed")
	s.idle()
	require.Equal(t, []string{"for @deep/down/unusual_name.go"}, p.contents())
	require.Len(t, p.ofType("chat_request")[0]["attachments"], 1)
	require.Contains(t, p.jp("show", "--instructions").stdout, "skill release-notes")
}

// A prompt of an approved MCP server is a command, and the server's text is plain text only.
func TestChatOffersPrompts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", chatScript)
	p.configure("[mcp.fake]\ncommand = [\"mcp-fake\", \"plain\", \"../log\"]\n")
	require.Zero(t, p.jp("trust", "--mcp", "fake", "-y").exit)
	require.Contains(t, p.jp("trust", "--mcp", "fake", "--show").stdout, "commands for its prompts: /fake:greet\n")
	started := strings.Count(p.serverLog(), "start")
	s := p.chat(120)
	s.Type("/fa")
	s.WaitFor("/fake:greet Greet someone")
	s.Type("\t")
	s.waitLine("> /fake:greet")
	require.Equal(t, started, strings.Count(p.serverLog(), "start"), "it is not started to complete a word")
	s.Type("\r")
	s.WaitFor("jp could not ask with /fake:greet: the words do not fit: NAME is missing (want NAME [HOW]).")
	s.Type("\x15/fake:shout\r")
	s.WaitFor("There is no command /fake:shout.")
	s.Type("\x15/fake:greet Ann warmly\r")
	s.WaitFor("no files changed")
	s.idle()
	require.Contains(t, s.Text(), "The MCP server fake makes 4 lines of it: /quit Greet Ann warmly")
	require.Equal(t, []string{
		"/fake:greet Ann warmly\n\nThe prompt greet of the MCP server fake:\n\n/quit\nGreet Ann warmly with @README.md.\n\n[image-1.png: image/png, 67 bytes]",
	}, p.contents())
	require.Len(t, p.ofType("chat_request")[0]["attachments"], 1, "the picture, and no file that the server names")
	s.Type("\x04")
	require.Zero(t, s.exit())
	require.Zero(t, p.jp("trust", "--mcp", "fake", "--revoke").exit)
	s = p.chat(80)
	s.Type("/fake:greet Ann\r")
	s.WaitFor("There is no command /fake:greet.")
}

// Plain lines: nothing changes in place, and a turn's questions and menus are those of a query.
func TestChatPlain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", makeScript)
	s := p.sit(80, "chat", "--plain", "-m", "script/../talk.toml")
	s.prompted()
	s.Type("/mode plan\r")
	s.waitLine("plan >")
	s.Type("/mode none\r")
	s.prompted()
	s.Type("Make \\\r")
	s.waitLine("…")
	s.Type("them\r")
	s.answers("? help", "y")
	s.WaitFor("call 2 of 2")
	s.answers("? help", "y")
	s.WaitFor("Over.")
	s.idle()
	s.Type("half\x03") // empties the line
	s.WaitForEnd("\n> half\n>")
	s.Type("\x03")
	s.WaitForEnd("\n>\nCtrl+C again leaves.\n>")
	s.Type("\x03")
	require.Zero(t, s.exit())
	require.FileExists(t, p.dir+"/made.txt")
	require.Equal(t, []string{"Make \nthem"}, p.contents())
	require.NotRegexp(t, `\x1b\[[0-9]*[A-Ja-jG]`, s.Raw(), "no cursor moves, no line is erased")
}
