package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"jp/internal/testing/terminaltest"
)

// A sitting is a jp at a terminal of its own.
type sitting struct {
	*terminaltest.Screen
	place *workspace
	cmd   *exec.Cmd
}

// sit starts a jp at a terminal with 24 rows.
func (p *workspace) sit(columns int, args ...string) *sitting {
	p.t.Helper()
	return p.sitWith(columns, p.command(args...))
}

// sitWith starts any command at a terminal.
func (p *workspace) sitWith(columns int, cmd *exec.Cmd) *sitting {
	p.t.Helper()
	cmd.Dir, cmd.Env = p.dir, p.environ
	master, tty, err := pty.Open()
	if err != nil {
		// A container without /dev/pts has no terminals to try.
		p.t.Skip("no pseudo-terminal here: ", err)
	}
	s := &sitting{Screen: terminaltest.Around(p.t, master, nil, columns, 24), place: p, cmd: cmd}
	s.View = unframed
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(p.t, s.cmd.Start())
	require.NoError(p.t, tty.Close())
	p.t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	return s
}

// unframed is a screen without the frame of the line and the bottom line. A mode stands before the line.
func unframed(text string) string {
	var lines []string
	mode, rules, framed := "", 0, strings.Contains(text, "\n───────────────")
	if m := regexp.MustCompile(`(?m)^ (\w+) ⇧⇥.*$`).FindStringSubmatch(text); m != nil && m[1] != "asks" {
		mode = m[1] + " "
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "───────────────") && strings.Trim(line, "─") == "":
			rules++
			continue
		case line == "❯" && framed && rules == 0: // half a drawing: the frame above it is written over
			lines = append(lines, line)
			continue
		case strings.Contains(line, "⇧⇥"):
			continue
		}
		if rest, mine := strings.CutPrefix(line, "❯"); mine {
			if line = ">" + rest; rules > 0 {
				line = mode + line
			}
		}
		lines = append(lines, line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// prompted waits until jp waits for a key.
func (s *sitting) prompted() {
	s.place.t.Helper()
	s.WaitForEnd("\n>")
}

// abort opens the menu with Ctrl+C and ends jp.
func (s *sitting) abort() {
	s.place.t.Helper()
	s.Type("\x03")
	s.WaitFor("a abort (jp continue resumes)")
	s.Type("a")
}

// exit waits for the end, until all is shown, and is the exit code. A jp that does not end fails the
// test with its screen.
func (s *sitting) exit() int {
	s.place.t.Helper()
	stuck := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	err := s.cmd.Wait()
	require.True(s.place.t, stuck.Stop(), "jp does not end: "+s.Text())
	s.Drain()
	return exitOf(s.place.t, err)
}

const makeScript = `
[[reply]]
message = "I make a file."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "other.txt", content = "other\n" }
[[reply]]
message = "Over."
`

// asked is a place, and a jp in it that asks whether a tool may run.
func asked(t *testing.T) (*workspace, *sitting) {
	t.Helper()
	p := newPlace(t)
	p.write("../make.toml", makeScript)
	s := p.sit(100, "query", "-m", "script/../make.toml", "Make files")
	s.prompted()
	return p, s
}

// events are those of the place's conversation.
func (p *workspace) events() []map[string]any {
	p.t.Helper()
	var events []map[string]any
	out := p.jp("print", "--internal", "--json")
	require.NoError(p.t, json.Unmarshal([]byte(out.stdout), &events), out.stderr)
	return events
}

// ofType are the place's events of a type.
func (p *workspace) ofType(name string) (events []map[string]any) {
	p.t.Helper()
	for _, e := range p.events() {
		if e["type"] == name {
			events = append(events, e)
		}
	}
	return events
}

func TestRunPrompt(t *testing.T) {
	t.Parallel()
	const made, both = "made.txt", "made.txt other.txt"
	tests := map[string]struct {
		keys   []string // each typed at a prompt; two tool runs are asked for
		files  string
		answer string // to the first
	}{
		"yes":                {keys: []string{"y", "n"}, files: made, answer: "run"},
		"Y is yes to all":    {keys: []string{"Y", "y", "n"}, files: made, answer: "run"},
		"all of this tool":   {keys: []string{"a"}, files: both, answer: "run_turn"},
		"N is no network":    {keys: []string{"N", "y", "n"}, files: made, answer: "run"},
		"no":                 {keys: []string{"n", "n"}, answer: "skip"},
		"end of file is no":  {keys: []string{"\x04", "n"}, answer: "skip"},
		"help":               {keys: []string{"?", "y", "n"}, files: made, answer: "run"},
		"details":            {keys: []string{"d", "y", "n"}, files: made, answer: "run"},
		"a newline after it": {keys: []string{"y\r", "n"}, files: made, answer: "run"},
		"no, with a newline": {keys: []string{"n\r", "n\r"}, answer: "skip"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := asked(t)
			for i, keys := range tt.keys {
				if i > 0 {
					s.promptedAgain(i + 1)
				}
				s.Type(keys)
			}
			require.Zero(t, s.exit())
			require.Equal(t, tt.files, strings.Join(p.untracked(), " "))
			answers := p.ofType("inquiry_response")
			require.Equal(t, tt.answer, answers[0]["answer"])
			require.Equal(t, "user", answers[0]["by"])
			require.Len(t, p.ofType("tool_call_response"), 2)
			require.Equal(t, 0, p.jp("verify").exit)
		})
	}
}

// promptedAgain waits for the prompt of that number.
func (s *sitting) promptedAgain(number int) {
	s.place.t.Helper()
	s.Wait("another prompt", func() bool { return strings.Count(s.Raw(), "\n> ") >= number })
	s.prompted()
}

// untracked are the files that git does not track.
func (p *workspace) untracked() []string {
	p.t.Helper()
	return strings.Fields(p.git("ls-files", "--others"))
}

func TestRunPromptTakesAReason(t *testing.T) {
	t.Parallel()
	p, s := asked(t)
	s.Type("w")
	s.WaitForEnd("Why?")
	s.Type("use tqo\x7f\x7fwo files\r")
	s.promptedAgain(2)
	s.Type("w")
	s.WaitForEnd("Why?")
	s.Type("\x04")
	s.promptedAgain(3)
	s.Type("n")
	require.Zero(t, s.exit())
	require.Empty(t, p.untracked())
	answer := p.ofType("inquiry_response")[0]
	require.Equal(t, "skip", answer["answer"])
	require.Equal(t, "use two files", answer["reason"])
	require.Contains(t, p.ofType("tool_call_response")[0]["content"], "use two files")
	require.Contains(t, p.jp("log").stdout, `answer: no, "use two files" (user)`)
}

func TestRunPromptEditsTheArguments(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../make.toml", makeScript)
	p.write("../editor", "#!/bin/sh\nsed s/made/edited/g \"$1\" >\"$1.new\" && mv \"$1.new\" \"$1\"\n")
	p.environ = append(p.environ, "JP_EDITOR=../editor")
	s := p.sit(100, "query", "-m", "script/../make.toml", "Make files")
	s.prompted()
	s.Type("e")
	s.promptedAgain(2)
	s.Type("n")
	require.Zero(t, s.exit())
	require.Equal(t, []string{"made.txt"}, p.untracked())
	answer := p.ofType("inquiry_response")[0]
	require.Equal(t, "edit", answer["answer"])
	require.Equal(t, map[string]any{"path": "made.txt", "content": "edited\n"}, answer["arguments"])
	asked := p.ofType("tool_call_request")[0]["arguments"].(map[string]any)
	require.Equal(t, "made.txt", asked["path"])
}

func TestInterruptAtAPromptLeavesItOpen(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		end  func(*sitting)
		exit int
	}{
		"Ctrl+C":  {func(s *sitting) { s.abort() }, 130},
		"twice":   {func(s *sitting) { s.Type("\x03"); s.WaitFor("a abort"); s.Type("\x03") }, 130},
		"SIGINT":  {func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGINT) }, 130},
		"at Why?": {func(s *sitting) { s.Type("w"); s.WaitFor("Why?"); _ = s.cmd.Process.Signal(syscall.SIGINT) }, 130},
		"SIGTERM": {func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		"SIGQUIT": {func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGQUIT) }, 131},
		"hang-up": {func(s *sitting) { s.Hangup() }, 129},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := asked(t)
			tt.end(s)
			require.Equal(t, tt.exit, s.exit())
			require.Empty(t, p.untracked())
			require.Empty(t, p.ofType("inquiry_response"))
			require.Len(t, p.ofType("inquiry_request"), 1)
			require.Contains(t, p.jp("ls").stdout, "waiting-for-input (create)")
			require.Equal(t, 3, p.jp("query", "And now?").exit)
			require.Equal(t, 0, p.jp("verify").exit)
		})
	}
}

func TestAHangUpKeepsTheReason(t *testing.T) {
	t.Parallel()
	p, s := asked(t)
	s.Type("w")
	s.WaitFor("Why?")
	s.Type("the tests go first")
	s.WaitFor("the tests go first")
	s.Hangup()
	require.Equal(t, 129, s.exit())

	s = p.sit(60, "continue")
	s.prompted()
	s.Type("w")
	s.WaitFor("You typed here before: the tests go first")
	s.Type("\t!\r")
	s.promptedAgain(2)
	s.Type("n")
	require.Zero(t, s.exit(), s.Text())
	require.Equal(t, "the tests go first!", p.ofType("inquiry_response")[0]["reason"])
	kept, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/drafts/*.unsent"))
	require.NoError(t, err)
	require.Empty(t, kept)
}

func TestWhatIsTypedAheadAnswersNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../slow.toml", strings.Replace(makeScript, `message = "I`, "chunk_size = 1\nchunk_delay = \"20ms\"\nmessage = \"I", 1))
	s := p.sit(100, "query", "-m", "script/../slow.toml", "Make files")
	s.WaitFor("I make")
	s.Type("y\ra")
	s.prompted()
	s.Type("n")
	s.promptedAgain(2)
	s.Type("n")
	require.Zero(t, s.exit())
	require.Empty(t, p.untracked())
}

func TestInterruptWhileTheModelAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../hang.toml", "[[reply]]\nmessage = \"Once upon a time\\n\\nthere was\"\nchunk_size = 4\nhang = true\n")
	s := p.sit(100, "query", "-m", "script/../hang.toml", "Tell me")
	s.WaitFor("Once upon a")
	s.abort()
	require.Equal(t, 130, s.exit())
	require.Contains(t, p.jp("ls").stdout, "interrupted")
	require.Equal(t, 0, p.jp("verify").exit)
}

func TestHeadAndFoot(t *testing.T) {
	t.Parallel()
	p, s := asked(t)
	s.Type("a")
	require.Zero(t, s.exit())
	s.WaitFor("turn 1 ·")
	head := p.git("rev-parse", "--short=7", "main")
	id := strings.TrimPrefix(strings.TrimSpace(p.jp("show", "--ref").stdout), "refs/jp/conversations/")
	lines := strings.Split(s.Text(), "\n")
	require.Equal(t, id+" · new · script/../make.toml · main "+head, lines[0])
	require.Regexp(t, `^turn 1 · \d+ m?s · [\d.]+k in, \d+ out · 2 files \+2 -0$`, lines[len(lines)-1])
	require.Regexp(t, `\n  ● create made\.txt +\+1 −0 · you said yes @\d+\n      1 \+ made\n`, s.Text())
	require.Regexp(t, `\n  ● create other\.txt +\+1 −0 · allowed for this turn @\d+\n`, s.Text())
	require.Contains(t, s.Text(), "\n  I make a file.\n")
	require.Contains(t, s.Text(), "\n  Over.\n")
}

const markdownScript = `[[reply]]
chunk_size = 3
message = """
# A heading

A paragraph with **bold** words and a sentence that is much longer than sixty columns, so that it is wrapped.

- one
- two that is so long that it does not fit into the width of the terminal at all

~~~go
func main() {}
~~~
"""
`

func TestMarkdownOnATerminal(t *testing.T) {
	t.Parallel()
	for _, colour := range []bool{true, false} {
		t.Run(map[bool]string{true: "colour", false: "NO_COLOR"}[colour], func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../text.toml", markdownScript)
			if !colour {
				p.environ = append(p.environ, "NO_COLOR=1")
			}
			s := p.sit(60, "query", "-m", "script/../text.toml", "Write")
			require.Zero(t, s.exit())
			s.WaitFor("turn 1 ·")
			require.Contains(t, s.Text(), "A heading")
			require.Contains(t, s.Text(), "func main() {}")
			require.Regexp(t, `A paragraph with (\*\*)?bold(\*\*)? words and a sentence that is\n? *much\n? *longer`, s.Text())
			require.Equal(t, colour, regexp.MustCompile(`\x1b\[[\d;]*m`).MatchString(s.Raw()), "%q", s.Raw())
			require.NotContains(t, p.jp("print").stdout, "\x1b[")
		})
	}
}

func TestLookingOnATerminal(t *testing.T) {
	t.Parallel()
	p, s := asked(t)
	s.abort()
	require.Equal(t, 130, s.exit())
	for args, want := range map[string]string{
		"ls":     `(?m)^ +ID +STATUS +TURNS +LAST +TITLE$`,
		"log":    `(?m)^@\d+ +\d\d:\d\d  ask: create made\.txt\?  ⏳$`,
		"print":  `(?m)^⏳ Incomplete turn \(waiting for input\)$`,
		"show":   `(?m)^Conversation +jp-c`,
		"verify": `^ok: 1 conversation of 1`,
	} {
		t.Run(args, func(t *testing.T) {
			s := p.sit(100, args)
			require.Zero(t, s.exit())
			s.Wait(want, func() bool { return regexp.MustCompile(want).MatchString(s.Text()) })
		})
	}
}
