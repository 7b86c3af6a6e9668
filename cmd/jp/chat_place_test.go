package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
)

// ctrlR and ctrlG are keys of a chat.
const (
	ctrlR = "\x12"
	ctrlG = "\x07"
	ctrlO = "\x0f"
)

// A command of the person's own runs as in their shell. Behind ! its output goes with the next request, behind !! it does not.
func TestChatOwnCommand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		line, shown string
		told        []string // the model's input, or nil
	}{
		"told":               {"!echo out; echo err >&2; exit 3", "out\nerr\nexit status 3\n", []string{"$ echo out; echo err >&2; exit 3\nout\nerr\nexit status 3"}},
		"success":            {"! echo out", "out\nThe output goes with the next request.", []string{"$ echo out\nout\n"}},
		"no output":          {"!true", "The output goes with the next request.", []string{"$ true\n"}},
		"an unfinished line": {"!printf 'l1\\nl2'", "l1\nl2\nThe output", []string{"\nl1\nl2\n"}},
		"hostile output":     {`!printf 'a\033]0;title\007\033[31mb\n'`, "ab\nThe output", []string{"\nab\n"}},
		"what it leaves":     {"!sleep 3 & echo on", "on\nThe output", []string{"\non\n"}},
		"has the terminal":   {"!!test -t 0 && test -t 1 && echo both", "both\n", nil},
		"not told, exit":     {"!!exit 4", "exit status 4\n", nil},
		"nothing to run":     {"!", "The first answer", nil},
		"an exclamation":     {"Go! on", "The first answer", nil},
		"without a terminal": {"!test -t 0 || echo none", "none\n", []string{"\nnone\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, 80, strings.ReplaceAll(chatScript, "20ms", "0ms"))
			s.Type(tt.line + "\r")
			s.WaitFor(tt.shown)
			s.idle()
			if !strings.Contains(tt.shown, "first answer") {
				s.Type("Ask\r")
				s.WaitFor("The first answer")
				s.idle()
			}
			require.Len(t, p.contents(), 1)
			if tt.told == nil {
				require.NotContains(t, p.ofType("chat_request")[0], "attachments")
				return
			}
			s.Type("Again\r")
			s.WaitFor("The second answer.")
			require.Len(t, p.ofType("chat_request")[0]["attachments"], 1)
			require.NotContains(t, p.ofType("chat_request")[1], "attachments", "the output goes once")
			payload := p.ofType("chat_request")[0]["payload"].([]any)[0].(map[string]any)
			for _, text := range tt.told {
				require.Contains(t, p.git("cat-file", "blob", payload["oid"].(string)), text)
			}
		})
	}
}

// At the end, the chat says that it drops output that no request took along.
func TestChatDropsOutput(t *testing.T) {
	t.Parallel()
	const dropped = "The output of your last commands was not sent, and is dropped.\n"
	for name, tt := range map[string]struct {
		lines []string
		drops bool
	}{
		"not sent": {[]string{"!echo KEEPME"}, true},
		"sent":     {[]string{"!echo KEEPME", "Ask"}, false},
		"not told": {[]string{"!!echo KEEPME"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := talk(t, 80, strings.ReplaceAll(chatScript, "20ms", "0ms"))
			for i, line := range tt.lines {
				s.Type(line + "\r")
				s.WaitFor([]string{"\nKEEPME\n", "The first answer"}[i])
				s.idle()
			}
			s.Type("/exit\r")
			require.Zero(t, s.exit())
			require.Equal(t, tt.drops, strings.Contains(s.Text()+"\n", dropped), s.Text())
		})
	}
}

// Ctrl+C interrupts a command behind !, and kills its process group the second time. The chat goes on.
func TestChatInterruptsOwnCommand(t *testing.T) {
	t.Parallel()
	const still, ctrlC = "still running: Ctrl+C again kills it", "\x03"
	for name, tt := range map[string]struct {
		line  string
		kills bool
		ended string
	}{
		"ends":            {"!echo $$ >../group; echo begun >../text; exec tail -f ../text", false, "signal: interrupt\n"},
		"ignores":         {`!trap "" INT; echo $$ >../group; echo begun; sleep 600; true`, true, "signal: killed\n"},
		"a child ignores": {`!sh -c 'trap "" INT; echo $$ >../group; echo begun; sleep 600; true'; echo after`, true, "signal: killed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, 80, strings.ReplaceAll(chatScript, "20ms", "0ms"))
			s.Type(tt.line + "\r")
			s.WaitFor("\nbegun")
			s.Type(ctrlC)
			if tt.kills {
				s.WaitFor("\n" + still)
				s.Type(ctrlC)
			}
			s.WaitFor(tt.ended + "The output goes with the next request.")
			require.Equal(t, tt.kills, strings.Contains(s.Text(), still))
			pid, err := strconv.Atoi(strings.TrimSpace(p.read("../group")))
			require.NoError(t, err)
			require.Eventually(t, func() bool { return process.StartOf(pid) == "" }, time.Minute, 10*time.Millisecond)
			s.idle()
			s.Type("Ask\r")
			s.WaitFor("The first answer")
		})
	}
	t.Run("no terminal", func(t *testing.T) {
		t.Parallel()
		_, s := talk(t, 80, chatScript)
		s.Type("!read x </dev/tty || echo read none\r")
		s.WaitFor("\nread none\n")
	})
}

// A jp behind ! is in the chat's session, in a terminal without a name too.
func TestChatOwnCommandSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", strings.ReplaceAll(chatScript, "20ms", "0ms"))
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Other").exit)
	mine := *p
	mine.environ = append(slices.Clone(p.environ), "JP_SESSION=")
	s := mine.chat(80)
	s.Type("Mine\r")
	s.WaitFor("answer")
	s.idle()
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Newer").exit)
	s.Type("!jp show | grep Title\r")
	s.WaitForEnd("Mine\nThe output goes with the next request. !! keeps it from the model.\n\n>")
}

// Ctrl+R goes through the requests that have the words, in this conversation and then in the others.
func TestChatSearches(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", strings.ReplaceAll(chatScript, "20ms", "0ms"))
	for _, text := range []string{"Fix the parser", "Mend the lexer"} {
		require.Zero(t, p.jp("query", "--new", "-m", "script/../talk.toml", text).exit)
	}
	s := p.chat(80, "newest")
	finds := func(keys, request, words string) {
		t.Helper()
		s.Type(keys)
		s.WaitForEnd("\n> " + request + "\n  " + words + "  Ctrl+R an older one   Enter ask   Esc back")
	}
	finds("the"+ctrlR, "Mend the lexer", "search: the")
	finds(ctrlR, "Fix the parser", "search: the")
	finds(ctrlR, "Fix the parser", "no older request has: the")
	finds(" lex", "Mend the lexer", "search: the lex")
	finds("\x7f\x7f\x7fPAR", "Fix the parser", "search: the PAR")
	s.Type("\x1b") // back
	s.WaitForEnd("\n> the")
	s.Type("\x15")
	finds(ctrlR, "Mend the lexer", "search:")
	finds("x", "Mend the lexer", "search: x")
	finds("yz", "Mend the lexer", "no older request has: xyz")
	s.Type("\x15") // a key that edits is for the match
	s.WaitForEnd("\n>")
	finds(ctrlR+"parser", "Fix the parser", "search: parser")
	s.Type("\r")
	s.WaitFor("> Fix the parser\n\n  The second answer.")
}

// Ctrl+O shows the newest block whole in the pager: the output of a program, a change, a thought.
// Again, it shows the one before. It skips those that the screen shows in full. It does so while a
// turn runs, too: the turn's output is there when the pager ends.
func TestChatOpens(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../page", "sed 's/^/page: /'\nprintf 'leave? '\nread answer </dev/tty\n")
	p.environ = append(p.environ, "JP_PAGER=sh "+filepath.Dir(p.dir)+"/page")
	p.write("old.txt", "one\n"+strings.Repeat("same\n", 20)+"two\n")
	p.write("../talk.toml", `
[[reply]]
reasoning = "I weigh it.\nThen I decide."
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["seq", "9"] }
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "new.txt", content = "a\nb\nc\nd\ne\nf\ng\nlast line\n" }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "while ! test -e go; do sleep 0.05; done; echo gone; seq 9"] }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["echo", "short"] }
[[reply]]
message = "Done."
`)
	s := p.sit(80, "chat", "-m", "script/../talk.toml", "-p", "edits", "--cfg", `policy.allow=[["seq"],["sh"],["echo"]]`)
	idle := func() { t.Helper(); s.WaitForEnd("\nedits >") }
	idle()
	s.Type(ctrlO)
	s.WaitFor("There is no output, change or thought to open yet.")
	s.Type("Work\r")
	s.WaitFor("… 6 lines   Ctrl+O")
	s.WaitFor("while ! test -e go")
	opens := func(want ...string) {
		t.Helper()
		before := strings.Count(s.Raw(), "leave? ")
		s.Type(ctrlO)
		for _, text := range want {
			s.WaitFor("page: " + text)
		}
		s.Wait("the page ends", func() bool { return strings.Count(s.Raw(), "leave? ") > before })
	}
	opens("    8 + last line")
	s.Type("\r")
	opens("    1\n", "    9\n")
	p.write("go", "")
	p.recorded("turn_done")
	require.NotContains(t, s.Text(), "Done.", "the pager has the terminal")
	s.Type("\r")
	s.WaitFor("Done.")
	idle()
	opens("    gone\n") // a newer one
	s.Type("\r")
	opens("    8 + last line")
	s.Type("\r")
	opens("    9\n")
	s.Type("\r")
	opens("I weigh it.\n")
	s.Type("\r")
	idle()
	s.Type(ctrlO)
	s.WaitFor("There is no earlier one.")
	opens("    gone\n")
	s.Type("\r")
	idle()
}

// Ctrl+O shows a file that was overwritten with the lines that stay.
func TestChatOpensOverwritten(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.environ = append(p.environ, "JP_PAGER=sed 's/^/page: /'")
	p.write("../talk.toml", strings.ReplaceAll(overwriteScript, `"new\n"`, `"# A repository\nnew\n"`))
	s := p.chat(80)
	s.Type("Write it\r")
	s.answers("? help", "y")
	s.WaitFor("turn 1 · ")
	s.idle()
	s.Type(ctrlO)
	s.WaitFor("page:     1   # A repository\npage:     2 + new\n")
}

// Ctrl+O shows the text that the model has read, and an edit that the person did not allow. Less gets
// a screen of its own, and keys typed there stay out of the line.
func TestChatOpensReads(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.program("../bin", "less", "printf '\\033[?1049hpaged: %s\\n' \"$*\"; cat; read answer </dev/tty; printf '\\033[?1049l'")
	p.environ = append(p.environ, "JP_PAGER=less")
	p.write("old.txt", "one\ntwo\nthree\n")
	p.write("../talk.toml", `
[[reply]]
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "old.txt" }
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "old.txt", edits = [{ old = "two", new = "zwei" }] }
[[reply]]
message = "Done."
`)
	s := p.chat(80)
	s.Type("Work\r")
	s.answers("? help", "n")
	s.WaitFor("Done.")
	s.idle()
	s.Type("half a line")
	s.waitLine("> half a line")
	for _, want := range []string{"    - two\n    + zwei", "three"} {
		s.Type(ctrlO)
		s.WaitFor("paged: -+F -+X\n")
		s.WaitFor(want)
		s.Type("q\r")
		s.waitLine("> half a line")
	}
	require.NotContains(t, s.Text(), "zwei")
	s.Type(ctrlO)
	s.WaitFor("There is no earlier one.")
}

// d at a question opens the pager also for a text that fits the screen: q leaves it, at any size.
func TestChatDetailsOpenThePager(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"80x24": {80, 24}, "48x30": {48, 30}, "120x60": {120, 60}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.program("../bin", "less", "printf '\\033[?1049hpaged\\n'; cat; read answer </dev/tty; printf '\\033[?1049l'")
			p.environ = append(p.environ, "JP_PAGER=less")
			p.write("../talk.toml", makeScript)
			s := p.sit(size[0], "chat", "-m", "script/../talk.toml")
			s.Resize(size[0], size[1])
			s.prompted()
			s.Type("Work\r")
			s.answers("? help", "d")
			s.WaitFor("paged\n  ● create made.txt")
			s.WaitFor("    Arguments:")
			s.Type("q\r")
			s.WaitForEnd("? help\n>")
			require.NotContains(t, s.Text(), "Arguments:")
			s.answers("? help", "n")
			s.WaitFor("● create other.txt")
			s.answers("? help", "n")
			s.WaitFor("Over.")
		})
	}
}

// Ctrl+G gives the line to the editor, and takes the text that the editor wrote.
func TestChatEditor(t *testing.T) {
	t.Parallel()
	p := edited(t, "cp \"$1\" ../shown; printf 'one\\ntwo\\n' >>\"$1\"\n")
	s := p.chat(80)
	s.Type("half " + ctrlG)
	s.Wait("the editor's text", func() bool { return strings.HasSuffix(s.Text(), "\n> half one\n  two") })
	s.Type("\r")
	s.WaitFor("Hi.")
	require.Equal(t, []string{"half one\ntwo"}, p.contents())
}

// Esc Esc in an empty line puts the newest request into it, and Up and Down another one. The entered
// text then replaces it, with the files of then if some changed and the person wants them.
func TestChatGoesBack(t *testing.T) {
	t.Parallel()
	const up, down, esc = "\x1b[A", "\x1b[B", "\x1b"
	for name, tt := range map[string]struct {
		keys    string // behind Esc Esc
		row     string // the chosen request
		asks    string // the question about the files, "" for none
		answer  string
		asked   []string // in the conversation afterwards
		keeps   []string
		missing []string
	}{
		"no files changed":         {"", "> Say three", "", "", []string{"Make one", "Make two", "Say three, short"}, []string{"one.txt", "two.txt"}, nil},
		"files":                    {down, "> Make two", "Esc stay here", "f", []string{"Make one", "Make two, short"}, []string{"one.txt"}, []string{"two.txt"}},
		"up, from the newest":      {up + up, "> Make two", "Esc stay here", "w", []string{"Make one", "Make two, short"}, []string{"one.txt", "two.txt"}, nil},
		"down, from the oldest":    {down + down + down, "> Say three", "", "", []string{"Make one", "Make two", "Say three, short"}, []string{"one.txt", "two.txt"}, nil},
		"words only":               {down, "> Make two", "Esc stay here", "w", []string{"Make one", "Make two, short"}, []string{"one.txt", "two.txt"}, nil},
		"the first request, files": {down + down, "> Make one", "Esc stay here", "f", []string{"Make one, short"}, nil, []string{"one.txt", "two.txt"}},
		"the first request, words": {down + down, "> Make one", "Esc stay here", "w", []string{"Make one, short"}, []string{"one.txt", "two.txt"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := goesBack(t)
			s.Type(esc)
			s.Type(esc)
			s.WaitForEnd("edits > Say three\n  Make two\n  Make one\n  Enter ask in its place   Up, Down another request   Esc stay here")
			s.Type(tt.keys)
			s.Wait(tt.row, func() bool { return strings.Count(s.Text(), "edits "+tt.row+"\n") == 2 }) // the line, and the mark below it
			s.Type(", short")
			s.WaitForEnd(", short\n  Enter ask in its place   Esc stay here")
			s.Type("\r")
			if tt.asks != "" {
				s.answers(tt.asks, tt.answer)
			}
			s.WaitFor("Again.")
			s.WaitForEnd("\n\nedits >")
			require.NotContains(t, s.Text(), "files and words", "the question goes away")
			require.Equal(t, tt.asked, p.contents())
			for _, name := range tt.keeps {
				require.FileExists(t, filepath.Join(p.dir, name))
			}
			for _, name := range tt.missing {
				require.NoFileExists(t, filepath.Join(p.dir, name))
			}
		})
	}
	t.Run("after a command", func(t *testing.T) {
		t.Parallel()
		_, s := goesBack(t)
		for _, of := range [][2]string{{"/mode", "programs of the sandbox) and none.\n\nedits >"}, {"/nonsense", "edits >\nThere is no command /nonsense. /help lists them. Ctrl+Y brings the text back."}} {
			s.Type(of[0] + "\r") // after which no list is left below the line
			s.WaitForEnd(of[1])
			s.Type(esc)
			s.Type(esc)
			s.WaitForEnd("Esc stay here")
			s.Type(esc)
			s.WaitForEnd("\nedits >")
		}
	})
	t.Run("stays", func(t *testing.T) {
		t.Parallel()
		p, s := goesBack(t)
		s.Type(esc)
		s.Type(esc)
		s.WaitForEnd("Esc stay here")
		s.Type("\x15Words of mine") // in the place of all of the text
		s.WaitForEnd("Esc stay here")
		s.Type(esc)
		s.WaitForEnd("no files changed\n\nedits >")
		s.Type(esc)
		s.Type(esc)
		s.WaitForEnd("Esc stay here")
		s.Type(down + "\r")
		s.answers("w words only   Esc stay here", esc)
		s.WaitForEnd("no files changed\n\n\nedits > Make two")
		require.Equal(t, []string{"Make one", "Make two", "Say three"}, p.contents())
	})
}

// A text in the place of the first request is asked of the same model, though only the conversation
// names it.
func TestChatGoesBackToTheModel(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", strings.ReplaceAll(chatScript, "20ms", "0ms"))
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "First?").exit)
	s := p.sit(80)
	s.View = nil
	s.WaitFor(" · talk.toml · main")
	s.Type("\x1b\x1b")
	s.WaitFor("Enter ask in its place   Esc stay here")
	s.Type(" Again\r")
	s.WaitFor("The first answer")
	s.WaitFor("turn 1 · ")
	s.WaitFor(" · talk.toml · main")
	require.Equal(t, []string{"First? Again"}, p.contents())
}

// A new conversation asks the model of the one before, though only the conversation names it. Another conversation keeps its own.
func TestChatNewKeepsTheModel(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", strings.ReplaceAll(chatScript, "20ms", "0ms"))
	p.write("../other.toml", strings.Repeat("[[reply]]\nmessage = \"Another model.\"\n", 2))
	require.Zero(t, p.jp("query", "-m", "script/../other.toml", "Zero?").exit)
	other := p.jp("show", "--json").field(t, "id")
	require.Zero(t, p.jp("query", "--new", "-m", "script/../talk.toml", "First?").exit)
	s := p.sit(80, "-c")
	s.idle()
	enter := func(line, shows string) {
		t.Helper()
		before := strings.Count(s.Raw(), shows)
		s.Type(line + "\r")
		s.Wait(shows, func() bool { return strings.Count(s.Raw(), shows) > before })
		s.idle()
	}
	for _, of := range [][3]string{
		{"/new", "starts a new conversation", "The first answer"},
		{"/use " + other, "Zero?", "Another model."},
		{"/new", "starts a new conversation", "Another model."},
		{"/model script/../talk.toml", "$ jp query --model", "The second answer."},
		{"/new", "starts a new conversation", "The first answer"},
	} {
		enter(of[0], of[1])
		enter("Again?", of[2])
	}
}

// A kill while the person goes back, of the chat or of its commands too, leaves their text once: in
// the line of the next chat, or in its conversation. JP_CHAT_KILLS is the number of kills.
func TestChatGoesBackKills(t *testing.T) {
	t.Parallel()
	kills := 3
	if n, err := strconv.Atoi(os.Getenv("JP_CHAT_KILLS")); err == nil {
		kills = n
	}
	seed := time.Now().UnixNano()
	if n, err := strconv.ParseInt(os.Getenv("JP_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("JP_SEED=%d", seed)
	random := rand.New(rand.NewSource(seed))
	for range kills {
		p, s := goesBack(t)
		keys := []string{"", "\x1b[B", "\x1b[B\x1b[B"}[random.Intn(3)]
		answer := []string{"f", "w"}[random.Intn(2)]
		after, all := time.Duration(random.Int63n(int64(600*time.Millisecond))), random.Intn(2) == 0
		s.Type("\x1b\x1b")
		s.WaitFor("Esc stay here")
		s.Type(keys + ", short")
		s.WaitFor(", short\n")
		s.Type("\r")
		if keys != "" {
			s.answers("Esc stay here", answer)
		}
		time.Sleep(after)
		pid := s.cmd.Process.Pid
		if all {
			pid = -pid
		}
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		_ = s.cmd.Wait()
		s.Drain() // until its commands have ended
		again := p.sit(80)
		again.Wait("a line", func() bool { return strings.Contains(again.Text(), "\n>") })
		what := fmt.Sprintf("keys %q, %s, after %s, all %t:\n%s\nthen\n%s", keys, answer, after, all, s.Text(), again.Text())
		times := 0
		for _, text := range append(p.contents(), again.line()) {
			times += strings.Count(text, ", short")
		}
		require.Equal(t, 1, times, what)
		require.Zero(t, p.jp("verify", "--all").exit, what)
		again.Type("\x15\x04")
		_ = again.exit()
	}
}

// goesBack is a chat with three requests, of which the first two make a file.
func goesBack(t *testing.T) (*workspace, *sitting) {
	t.Helper()
	script := ""
	for _, name := range []string{"one", "two"} {
		script += "[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"" + name + ".txt\", content = \"" + name + "\\n\" }\n[[reply]]\nmessage = \"Made " + name + ".\"\n"
	}
	p := newPlace(t)
	p.write("../talk.toml", script+"[[reply]]\nmessage = \"Said three.\"\n")
	s := p.sit(80, "chat", "-m", "script/../talk.toml", "-p", "edits")
	s.WaitForEnd("\nedits >")
	for _, of := range [][2]string{{"Make one", "Made one."}, {"Make two", "Made two."}, {"Say three", "Said three."}} {
		s.Type(of[0] + "\r")
		s.WaitFor(of[1])
		s.WaitForEnd("\n\nedits >")
	}
	p.write("../talk.toml", strings.Repeat("[[reply]]\nmessage = \"Again.\"\n", 5))
	return p, s
}

// The list of commands has all of them: arrows move, Tab takes the one that is marked, Enter runs it.
func TestChatCommandList(t *testing.T) {
	t.Parallel()
	_, s := talk(t, 80, chatScript)
	const down, up = "\x1b[B", "\x1b[A"
	s.Type("/")
	s.WaitFor(" more: Down")
	s.Type(down + down)
	s.WaitFor("> /use ")
	s.Type("\t")
	s.waitLine("> /use")
	s.Type("\x15/" + up)
	s.WaitFor("> /quit ")
	s.Type(up)
	s.WaitFor("> /help ")
	s.Type("\r")
	s.WaitFor("  Shift+Tab ")
	s.idle()
	s.Type("/mo" + down)
	s.WaitFor("> /model ")
	s.Type("\r") // it takes words
	s.waitLine("> /model")
	s.Type("\x15/" + down)
	s.WaitFor("> /new ")
	s.Type("\x1b") // closes the list, and nothing is chosen
	s.Wait("the list closes", func() bool { return !strings.Contains(s.Text(), "/use ") })
	s.Type("\r")
	s.WaitFor("There is no command /.")
	s.Type("/" + up)
	s.WaitFor("> /quit ")
	s.Type("\r")
	require.Zero(t, s.exit())
}

// jp -c goes on in the conversation that was used last in this working tree, from any terminal.
func TestChatLast(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	p.git("worktree", "add", "-q", "../other")
	in := func(session string) *workspace {
		q := *p
		q.environ = append(slices.Clone(p.environ), "JP_SESSION="+session)
		return &q
	}
	ask := func(session, text string, args ...string) {
		t.Helper()
		result := in(session).jp(append(args, "query", "--new", "-m", "script/"+filepath.Dir(p.dir)+"/talk.toml", text)...)
		require.Zero(t, result.exit, result.stderr)
	}
	ask("a", "Here, first")
	ask("b", "Here, last")
	ask("c", "There", "-C", "../other")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-c"}, "Here, last"},
		{[]string{"-C", "../other", "-c"}, "There"},
		{[]string{"chat", "--last"}, "Here, last"},
	} {
		q := in("new")
		s := q.sit(80, tt.args...)
		s.WaitFor("\n" + tt.want + " · ")
		s.WaitFor("\n> " + tt.want + "\n")
		s.idle()
		s.Type("\x04")
		require.Zero(t, s.exit())
	}
	s := in("new2").sit(80, "-r")
	s.WaitFor("Which conversation?")
	s.Wait("a row of each", func() bool {
		return regexp.MustCompile(`There +now +1 turn +talk\.toml`).MatchString(s.Text())
	})
	require.Equal(t, 2, p.jp("chat", "-c", "x").exit)
	require.Equal(t, 2, p.jp("-c").exit, "without a terminal")
}

// Hints of a chat are commands that it takes, with the conversation that they are about.
func TestChatHints(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", "[[reply]]\nfail = \"auth\"\n")
	require.NotZero(t, p.jp("query", "-m", "script/../talk.toml", "First").exit)
	id := conversation.ID(strings.TrimPrefix(strings.TrimSpace(p.jp("show", "--ref").stdout), "refs/jp/conversations/")).Short()
	p.write("../talk.toml", "[[reply]]\nmessage = \"Over.\"\n")
	q := *p
	q.environ = append(slices.Clone(p.environ), "JP_SESSION=other")
	s := q.sit(100, "chat", "-m", "script/../talk.toml")
	s.WaitFor("   /continue " + id)
	s.idle()
	s.Type("/continue " + id + "\r")
	s.WaitFor("Over.")
	s.idle()
	s.Type("/use none-such\r")
	s.WaitFor("/ls   the conversations there are")
	s.idle()
	s.Type("jp ls -n 1")
	for _, key := range []string{"\x1b", "\x03", "\x04"} { // each goes back to the line
		s.waitLine("> jp ls -n 1")
		s.Type("\r")
		s.WaitForEnd("n no, send it to the model   Esc back to the line\n>")
		s.Type(key)
	}
	s.waitLine("> jp ls -n 1")
	s.Type("\r")
	s.answers("Esc back to the line", "y")
	s.WaitFor("First")
	s.idle()
	s.Type("jp no-command\r")
	s.WaitFor("turn 2 · ")
	require.Equal(t, "jp no-command", p.contents()[1])
}

// A chat that goes on shows the last turn as it looked, and no more than fits the screen.
func TestChatShowsTheLastTurn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", makeScript+"[[reply]]\nmessage = \""+strings.Repeat("A paragraph.\\n\\n", 40)+"The end.\"\n")
	require.Zero(t, p.jp("query", "-y", "-m", "script/../talk.toml", "Make files").exit)
	s := p.sit(80, "-c")
	s.idle()
	require.Regexp(t, `^jp \S+ · script/../talk\.toml\n\S+(?: · |\n)main(?: · |\n)asks\nMake files · \w{4} · 1 turn · .* ago\n\n> Make files\n\n  I make a file\.\n  ● create made\.txt +\+1 −0 · -y @7\n      1 \+ made\n  ● create other\.txt +\+1 −0 · -y @9\n      1 \+ other\n  Over\.\nturn 1 done: `, s.Text())
	s.Type("/new\r")
	s.WaitFor("The next request starts a new conversation.")
	s.idle()
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Go on at length").exit)
	s.Type("/use .\r")
	s.WaitFor("The end.\nturn 2 done: ")
	s.idle()
	require.Regexp(t, `\n  … \d+ rows above\n`, s.Text())
	require.NotContains(t, s.Text(), "❯ Go on at length")
}

// A chat that goes on shows the command that ran when jp was killed.
func TestChatShowsALostCommand(t *testing.T) {
	t.Parallel()
	p := killedPlace(t)
	s := p.sit(120, "-c")
	s.idle()
	require.Regexp(t, `\n  \? sh -c 'echo x >>count; .* — started; its outcome is unknown\n`, s.Text())
}

// Words about an undo break between words.
func TestNarrowUndoInAChat(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", makeScript)
	require.Zero(t, p.jp("query", "-T", "-m", "script/../talk.toml", "Make files").exit)
	p.write("README.md", "mine\n")
	s := p.sit(46, "-c", "-m", "script/../talk.toml")
	s.idle()
	s.Type("/undo\r")
	s.WaitFor("Nothing to undo: ")
	s.idle()
	require.Regexp(t, `and\s+no\s+tool\s+of\s+this\s+conversation\s+wrote\s+there`, s.Text())
}
