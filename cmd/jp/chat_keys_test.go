package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	ctrlL = "\x0c"
	ctrlV = "\x16"
)

// dot is a picture.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// program writes a shell script to a folder beside the place, which is the first one on the search path.
func (p *workspace) program(folder, name, script string) {
	p.t.Helper()
	p.write(filepath.Join(folder, name), "#!/bin/sh\n"+script+"\n")
	require.NoError(p.t, os.Chmod(filepath.Join(p.dir, folder, name), 0o755))
	for i, pair := range p.environ {
		if path, is := strings.CutPrefix(pair, "PATH="); is && !strings.Contains(path, filepath.Join(p.dir, folder)) {
			p.environ[i] = "PATH=" + filepath.Join(p.dir, folder) + ":" + path
		}
	}
}

// Ctrl+V puts the picture of the clipboard into the line, and a dropped file does so. The chip is removed as one character. Only the
// pictures whose chips are there go along, once.
func TestChatPictures(t *testing.T) {
	t.Parallel()
	const paste, over = "\x1b[200~", "\x1b[201~"
	for name, tt := range map[string]struct {
		prints   string // the content of the clipboard
		keys     string
		says     string // a line below, "" for a chip
		text     string // that is asked
		attached int
	}{
		"of the clipboard": {"cat ../dot.png", "See " + ctrlV, "", "See [picture 1]", 1},
		"removed":          {"cat ../dot.png", "See " + ctrlV, "", "See", 0},
		"two":              {"cat ../dot.png", ctrlV, "", "[picture 1] and [picture 2]", 2},
		"none":             {"exit 1", ctrlV, "the clipboard has no picture", "Hi", 0},
		"no picture":       {"echo text", ctrlV, "picture 1 is no picture", "Hi", 0},
		"a dropped file":   {"exit 1", "See " + paste + "DIR/dot.png" + over, "", "See [picture 1]", 1},
		"one with blanks":  {"exit 1", "See " + paste + "'DIR/a dot.png' " + over, "", "See [picture 1]", 1},
		"one, escaped":     {"exit 1", "See " + paste + `DIR/a\ dot.png` + over, "", "See [picture 1]", 1},
		"a URL":            {"exit 1", "See " + paste + "file://DIR/a%20dot.png" + over, "", "See [picture 1]", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			picture, err := base64.StdEncoding.DecodeString(dot)
			require.NoError(t, err)
			dir := filepath.Dir(p.dir)
			p.write("../dot.png", string(picture))
			p.write("../a dot.png", string(picture))
			p.program("../bin", "wl-paste", "cd "+p.dir+"\n"+tt.prints)
			p.write("../talk.toml", strings.ReplaceAll(chatScript, "20ms", "0ms"))
			s := p.chat(80)
			s.Type(strings.ReplaceAll(tt.keys, "DIR", dir))
			if tt.says == "" {
				s.WaitFor("[picture 1]")
			} else {
				s.WaitFor(tt.says)
			}
			switch name {
			case "removed":
				s.Type("\x7f\x7f") // the blank, and the chip
				s.waitLine("> See")
			case "two":
				s.Type("and " + ctrlV)
				s.waitLine("> [picture 1] and [picture 2]")
			case "none", "no picture":
				s.Type("Hi")
			}
			s.Type("\r")
			s.WaitFor("The first answer")
			s.idle()
			require.Equal(t, tt.text, strings.TrimSpace(p.contents()[0]))
			attached, _ := p.ofType("chat_request")[0]["attachments"].([]any)
			require.Len(t, attached, tt.attached)
			s.Type("Again\r")
			s.WaitFor("The second answer.")
			require.NotContains(t, p.ofType("chat_request")[1], "attachments")
		})
	}
}

// A kill while a text with a picture is typed keeps both. The picture goes along with the request, and is kept no longer.
func TestChatKeepsAPicture(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, chatScript)
	picture, err := base64.StdEncoding.DecodeString(dot)
	require.NoError(t, err)
	p.write("../dot.png", string(picture))
	drop := func(s *sitting) { s.Type("\x1b[200~" + filepath.Join(filepath.Dir(p.dir), "dot.png") + "\x1b[201~") }
	drop(s)
	s.waitLine("> [picture 1]")
	s.Type("and what is ")
	p.awaitDraft("[picture 1] and what is \n")
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	kept := p.dir + "/.git/jp/drafts/new.pictures"
	require.FileExists(t, kept)
	again := p.sit(80, "chat", "-m", "script/../talk.toml")
	again.waitLine("> [picture 1] and what is")
	drop(again)
	again.waitLine("> [picture 1] and what is[picture 2]")
	again.Type("\r")
	again.WaitFor("The first answer")
	again.idle()
	require.Len(t, p.ofType("chat_request")[0]["attachments"], 2)
	require.NoFileExists(t, kept)
	require.NoFileExists(t, strings.TrimSuffix(p.queueFile(), "queue")+"pictures")
}

// No program of the working tree reads the clipboard, though it is the first one on the search path. A picture waits while a turn runs.
func TestChatPictureOfTheRepository(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	picture, err := base64.StdEncoding.DecodeString(dot)
	require.NoError(t, err)
	p.write("../dot.png", string(picture))
	p.program("../bin", "wl-paste", "cat "+filepath.Dir(p.dir)+"/dot.png")
	p.program("tools", "wl-paste", "echo run >"+filepath.Dir(p.dir)+"/run")
	p.write("../talk.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", \"while ! test -e go; do sleep 0.05; done\"] }\n[[reply]]\nmessage = \"Over.\"\n[[reply]]\nmessage = \"Seen.\"\n")
	s := p.chat(80, "--cfg", `policy.allow=[["sh"]]`)
	s.Type("Go\r")
	s.WaitFor("while ! test -e go")
	s.Type(ctrlV)
	s.WaitFor("[picture 1]")
	s.Type("\r")
	s.WaitFor("A picture waits until the turn has ended.")
	p.write("go", "")
	s.WaitFor("Over.")
	s.Wait("the line stays", func() bool { return strings.Contains(s.Text(), "\n\n> [picture 1]") })
	s.Type("\r")
	s.WaitFor("Seen.")
	require.Len(t, p.ofType("chat_request")[1]["attachments"], 1)
	require.NoFileExists(t, filepath.Join(filepath.Dir(p.dir), "run"))
}

// /btw asks beside the conversation: the answer is shown, stays out of the context, and its cost
// counts. A kill while it answers leaves the conversation whole, and the question comes back.
func TestChatBeside(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const script = `
[[reply]]
message = "The first answer."
[reply.usage]
input = 100
output = 10
[[reply]]
message = "An answer beside it, with some more words."
chunk_size = 2
chunk_delay = "DELAY"
[reply.usage]
input = 120
output = 20
`
	p.write("../talk.toml", strings.ReplaceAll(script, "DELAY", "0ms"))
	s := p.chat(80)
	s.Type("/btw Now?\r")
	s.WaitFor("there is no conversation yet to ask beside.")
	s.idle()
	s.Type("First\r")
	s.WaitFor("The first answer.")
	s.idle()
	head := p.git("for-each-ref", "refs/jp/conversations")
	s.Type("/btw What is it?\r")
	s.WaitFor("beside the conversation\n")
	s.WaitFor("An answer beside it, with some more words.")
	s.WaitFor("It is kept in the archive: /print ")
	s.idle()
	require.Equal(t, head, p.git("for-each-ref", "refs/jp/conversations"))
	require.Contains(t, p.jp("usage", "--by", "model").stdout, "220")
	require.Contains(t, p.jp("ls", "--archived").stdout, "Beside: What is it?")
	require.Equal(t, []string{"First"}, p.contents())

	p.write("../talk.toml", strings.ReplaceAll(script, "DELAY", "1s"))
	s.Type("/btw And why?\r")
	s.Wait("the answer begins", func() bool { return strings.Count(s.Text(), "\n  An") == 2 })
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGKILL))
	_ = s.cmd.Wait()
	require.Equal(t, head, p.git("for-each-ref", "refs/jp/conversations"))
	s = p.sit(80, "chat", "-m", "script/../talk.toml")
	s.WaitForEnd("> /btw And why?")
	require.NotContains(t, s.Text(), "interrupted")
}

// /effort and /theme hold for this chat, by a word or from a menu.
func TestChatEffortAndTheme(t *testing.T) {
	t.Parallel()
	_, s := talk(t, 80, chatScript)
	s.View = nil
	s.Type("/effort high\r")
	s.WaitFor("$ jp query --cfg parameters.reasoning=high")
	s.WaitFor("From the next request on: effort high.")
	s.WaitFor(" · talk.toml high · ")
	s.Type("/effort\r")
	s.WaitFor("  high (now)")
	s.Type("\x1b[B\x1b[B\r")
	s.WaitFor(" · talk.toml low · ")
	s.Type("/effort enormous\r")
	s.WaitFor(`invalid effort "enormous" (want one of auto, off, low, medium, high,`)
	s.Type("/theme light\r")
	s.WaitFor("From now on: theme light.")
	s.Type("/theme\r")
	s.WaitFor("  light (now)")
	s.Type("\r")
	s.WaitFor("From now on: theme auto.")
	s.WaitForEnd("? keys")
	for range 8 { // a form that is left takes no key after it
		s.Type("/theme\r")
		s.WaitFor("enter submit")
		s.Type("\x1b")
		s.WaitForEnd("? keys")
		s.Type("text")
		s.WaitFor("❯ text")
		s.Type("\x15")
	}
	s.Type("/theme pink\r")
	s.WaitFor(`invalid theme "pink" (want auto, dark, light, none).`)
}

// /context shows the use of the context: a bar if there are colours and room, else a list.
func TestChatContext(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		columns int
		flags   []string
		bar     bool
	}{
		"a bar":      {80, nil, true},
		"48 columns": {48, nil, true},
		"40 columns": {40, nil, false},
		"no colour":  {80, []string{"--cfg", "style.color=never"}, false},
		"plain":      {80, []string{"--plain"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../talk.toml", chatScript)
			s := p.sit(tt.columns, append([]string{"chat", "-m", "script/../talk.toml", "--cfg", `models."script/../talk.toml".context=100000`}, tt.flags...)...)
			s.WaitForEnd(">")
			s.Type("/context\r")
			s.WaitFor("tool results            0   0.0 %\n")
			s.WaitFor("free")
			require.Equal(t, tt.bar, strings.Contains(s.Text(), "░░░░"), s.Text())
			require.LessOrEqual(t, widest(s), tt.columns)
		})
	}
}

// The figures of /context add up to the head line and to the window, and grow with what the model has read.
func TestChatContextFigures(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("long.txt", strings.Repeat("word and ", 1200))
	p.write("../talk.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"long.txt\" }\n[[reply]]\nmessage = \"Read.\"\n")
	s := p.chat(80, "--cfg", `models."script/../talk.toml".context=100000`)
	s.Type("Read it\r")
	s.WaitFor("Read.\n")
	s.idle()
	s.Type("/context\r")
	s.WaitFor("free")
	s.idle()
	tokens := func(figure string) float64 {
		n, err := strconv.ParseFloat(strings.TrimSuffix(figure, "k"), 64)
		require.NoError(t, err, figure)
		if strings.HasSuffix(figure, "k") {
			n *= 1000
		}
		return n
	}
	head := regexp.MustCompile(` · about ([\d.]+k) tokens · (\d+) % of 100k\n`).FindStringSubmatch(s.Text())
	require.NotNil(t, head, s.Text())
	sum, all := 0.0, map[string]float64{}
	for _, row := range regexp.MustCompile(`█ ([a-z ]+?) +([\d.]+k?) +([\d.]+) %\n`).FindAllStringSubmatch(s.Text(), -1) {
		all[row[1]] = tokens(row[2])
		sum += all[row[1]]
		share, err := strconv.ParseFloat(row[3], 64)
		require.NoError(t, err)
		require.InDelta(t, all[row[1]]/1000, share, 0.11, row[0])
	}
	require.Len(t, all, 6)
	require.InDelta(t, tokens(head[1]), sum, 250, s.Text())
	require.InDelta(t, tokens(head[1])/1000, tokens(head[2]), 0.6)
	require.Greater(t, all["tool results"], 1500.0)
	require.Less(t, all["messages"], 500.0)
	free := regexp.MustCompile(`free +([\d.]+k)`).FindStringSubmatch(s.Text())
	require.InDelta(t, 100_000-tokens(head[1]), tokens(free[1]), 150)
}

// The number at the edge of a line is the one that /fork takes, and a number without @ is answered with the line that does it.
func TestChatForkAtANumber(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", makeScript)
	s := p.sit(80, "chat", "-m", "script/../talk.toml", "-p", "edits")
	s.WaitForEnd("\nedits >")
	s.Type("Make files\r")
	s.WaitFor("Over.")
	s.WaitForEnd("\n\nedits >")
	shown := regexp.MustCompile(`● create made\.txt .*@(\d+)\n`).FindStringSubmatch(s.Text())
	require.NotNil(t, shown, s.Text())
	first := p.jp("show", "--json").field(t, "id")
	s.Type("/fork " + shown[1] + "\r")
	s.WaitFor("no conversation matches")
	s.WaitFor("\n    /fork @" + shown[1] + "   fork at this event of the session's conversation")
	s.WaitForEnd("\n\nedits >")
	s.Type("/fork @" + shown[1] + "\r")
	s.WaitFor("Forked " + first + " at @" + shown[1])
	s.WaitFor("interrupted ")
}

// Ctrl+L draws the changing rows again, over the output of another program.
func TestChatRedraws(t *testing.T) {
	t.Parallel()
	_, s := talk(t, 80, chatScript)
	s.Type("some words")
	s.waitLine("> some words")
	shown := len(s.Raw())
	s.Type(ctrlL)
	s.Wait("the line is drawn again", func() bool { return strings.Contains(s.Raw()[shown:], "some words") })
	s.waitLine("> some words")
}

// The actions of the table in docs/tasks/chat.md take as many keys as the table says, besides the
// words.
func TestChatKeysOfActions(t *testing.T) {
	t.Parallel()
	const shiftTab, esc = "\x1b[Z", "\x1b"
	page, err := os.ReadFile("../../docs/tasks/chat.md")
	require.NoError(t, err)
	for action, tt := range map[string]struct {
		first string   // a request before, "" for none
		words string   // typed besides the keys, or ""
		keys  []string // behind each of which the screen has the text of end
		end   []string
	}{
		"read, edit and test":             {"", "Go", []string{"\r", "y", "y"}, []string{"Edit it?", "echo tested", "Over.\nturn 1"}},
		"allow edits from now on":         {"", "", []string{shiftTab}, []string{"\nedits >"}},
		"see an output whole":             {"!echo", "", []string{ctrlO}, []string{"leave?"}},
		"change the last request":         {"Hi", "", []string{esc, esc}, []string{"", "> Hi\n"}},
		"run a command of mine":           {"", "", []string{"!", "echo own\r"}, []string{"!", "\nown\nThe output"}},
		"search a request":                {"Hi", "", []string{ctrlR}, []string{"\n\n> Hi"}},
		"write a long text in the editor": {"", "", []string{ctrlG}, []string{"> one\n  two"}},
		"stop":                            {"", "Slowly\r", []string{"\x03"}, []string{"\nturn 1 · "}},
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			row := regexp.MustCompile(`(?m)^\| ` + action + ` \| [^|]*?: (\d)`).FindSubmatch(page)
			require.NotNil(t, row)
			require.Equal(t, string(row[1]), strconv.Itoa(len(tt.keys)))
			p := edited(t, "printf 'one\\ntwo\\n' >\"$1\"\n")
			p.write("../page", "cat\nprintf 'leave? '\nread answer </dev/tty\n")
			p.environ = append(p.environ, "JP_PAGER=sh "+filepath.Dir(p.dir)+"/page")
			script := "[[reply]]\nmessage = \"Hi.\"\n"
			switch action {
			case "read, edit and test":
				p.write("a.txt", "one\n")
				script = `
[[reply]]
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "a.txt" }
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "a.txt", edits = [{ old = "one", new = "two" }] }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo tested"] }
[[reply]]
message = "Over."
`
			case "see an output whole":
				script = "[[reply]]\nreasoning = \"I weigh it.\"\nmessage = \"Hi.\"\n"
			case "stop":
				script = "[[reply]]\nmessage = \"" + strings.Repeat("word ", 500) + "\"\nchunk_size = 4\nchunk_delay = \"50ms\"\n"
			}
			p.write("../talk.toml", script)
			s := p.chat(80)
			if tt.first != "" {
				s.Type(strings.TrimPrefix(tt.first, "!") + "\r")
				s.WaitFor("Hi.\nturn 1 · ")
				s.idle()
			}
			s.Type(tt.words)
			if action == "stop" {
				s.WaitFor("  word word")
			}
			for i, key := range tt.keys {
				s.Type(key)
				s.Wait(tt.end[i], func() bool { return strings.Contains(s.Text(), tt.end[i]) })
				if i < 2 && len(tt.keys) == 3 {
					s.WaitForEnd("? help\n>")
				}
			}
		})
	}
}
