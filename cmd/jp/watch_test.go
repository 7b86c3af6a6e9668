package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// manyLines asks for a file that is longer than a screen.
func manyLines() string {
	text := ""
	for i := range 40 {
		text += fmt.Sprintf("line %d\\n", i)
	}
	return "[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"many.txt\", content = \"" + text + "\" }\n[[reply]]\nmessage = \"Made.\"\n"
}

// besides is another repository of the same user.
func (p *workspace) besides() *workspace {
	p.t.Helper()
	other := *p
	other.dir = filepath.Join(filepath.Dir(p.dir), "other")
	require.NoError(p.t, os.Mkdir(other.dir, 0o777))
	other.git("init", "-q")
	other.write("README.md", "# Another\n")
	other.git("add", ".")
	other.git("commit", "-q", "-m", "first")
	return &other
}

func TestWatch(t *testing.T) {
	t.Parallel()
	p, _ := inBackground(t, overwriteScript)
	p.waits()
	other := p.besides()
	other.write("../many.toml", manyLines())
	long := strings.TrimSpace(other.jp("query", "--detach", "-m", "script/../many.toml", "Make it long").stdout)
	other.waits()

	other.write("../sleep.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sleep\", \"600\"] }\n")
	require.Zero(t, other.jp("query", "--new", "--detach", "-y", "-m", "script/../sleep.toml", "Sleep").exit)

	s := p.sit(80, "watch")
	s.WaitFor("jp watch · 2 need you · 1 working")
	s.Type("\x1b[F")
	s.WaitFor("› Sleep")
	s.WaitFor("    sleep 600")
	s.Type("s")
	s.WaitFor("s once more stops")
	s.Type("s")
	s.WaitFor("jp watch · 2 need you · 1 ready")
	s.Type("\x1b[H")
	s.WaitFor("› Make it long")
	s.WaitFor("create many.txt")
	s.WaitFor("added lines hidden: d") // the approved text is shown, or counted
	s.Type("\x1b[B")
	s.WaitFor("! the file exists and will be overwritten")
	require.Eventually(t, func() bool { // a key that comes before a person can have read the question is dropped
		if strings.Contains(s.Text(), "Create it?") && !p.exists("README.md", "new\n") {
			s.Type("y")
		}
		return p.exists("README.md", "new\n")
	}, time.Minute, time.Second)
	s.WaitFor("jp watch · 1 needs you · 2 ready")
	s.WaitFor("    Over.")

	s.Resize(40, 12)
	s.Type("\x1b[A")
	s.WaitFor("› Make it long")
	s.fits(40)
	s.Resize(80, 5)
	s.WaitFor("The question does not fit. Enter opens it.")
	s.Type("y")
	require.False(t, other.exists("many.txt", ""))
	s.Resize(80, 24)
	s.WaitFor("create many.txt")
	s.Type("m")
	s.WaitFor("> _")
	s.Type("and then\r")
	s.WaitFor("Queued.")
	s.Type("\r") // jp attach, which here has no terminal and follows
	s.WaitFor("waits for an answer")
	require.Zero(t, other.jp("answer", long, "y").exit)
	s.WaitFor("jp watch · 3 ready")
	require.True(t, other.exists("many.txt", ""))
	s.Type("q")
	require.Zero(t, s.exit())
	require.NotContains(t, s.Text(), "jp watch", "the screen is as before")
}

// A turn that is interrupted within jp attach leaves no exit code on the screen: its row says how it ended.
func TestWatchSaysNoExitCode(t *testing.T) {
	t.Parallel()
	p, _ := inBackground(t, queueScript, "-y")
	s := p.sit(80, "watch")
	s.WaitFor("1 working")
	s.WaitFor("    begun")
	s.Type("\r")
	s.WaitFor("\nDo it\n")
	s.WaitFor("  begun")
	require.Zero(t, p.jp("kill", "newest").exit)
	s.WaitFor("jp watch · 1 needs you")
	s.WaitFor("q leave")
	require.NotContains(t, s.Raw(), "exit status")
	require.NotContains(t, s.Raw(), "did not open")
	s.Type("q")
	require.Zero(t, s.exit())
}

// Ctrl+Z and Ctrl+\ leave a conversation that jp watch has opened, and its list is there again. A signal ends jp watch.
func TestWatchLeavesAConversation(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, hangScript)
	p.environ = append(p.environ, sharesVariable+"=1")
	s := p.sitWith(80, exec.Command("sh", "-mc", "sh -c 'echo $$ >../pid; exec jp watch'; echo ENDED $?"))
	open := func() {
		t.Helper()
		s.WaitFor("› Do it")
		s.Type("\r")
		p.attachedSoon(id, true)
	}
	for _, key := range []string{"\x1a", "\x1c"} {
		open()
		s.Type(key)
		p.attachedSoon(id, false)
	}
	open()
	pid, err := strconv.Atoi(strings.TrimSpace(p.read("../pid")))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	s.WaitFor("ENDED 143")
	require.NotContains(t, s.Raw(), "panic")
	require.Zero(t, p.jp("kill", string(id)).exit)
}

// TestWatchScreens has conversations in each state: one asks, one works, one has failed, one has ended. At 40 columns, without
// colours, their names are long and wide.
func TestWatchScreens(t *testing.T) {
	t.Parallel()
	names := []string{"Make isSpace one line", "Port the tests", "Cap the retries", "Explain the parser"}
	wide := []string{"設定を読み込む関数を一行にまとめてから試す", "Port the tests of the whole command line", "再試行の上限を決めて記録に残す、ゆっくり", "Explain the parser of the shell's words, with all its rules"}
	for _, kind := range []struct {
		columns int
		colours string
		environ string
		folder  string
		names   []string
	}{
		{80, "dark", "COLORTERM=truecolor", "shellwords", names},
		{80, "light", "COLORTERM=truecolor", "shellwords", names},
		{40, "none", "NO_COLOR=1", "言葉を分ける-the-words-of-a-shell-command", wide},
	} {
		size := fmt.Sprintf("%dx24-%s", kind.columns, kind.colours)
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.dir = filepath.Join(p.dir, "../home", kind.folder)
			require.NoError(t, os.Mkdir(p.dir, 0o777))
			p.git("init", "-q")
			p.write("shellwords.go", shellwords)
			p.git("add", ".")
			p.git("commit", "-q", "-m", "first")
			p.write("../ask.toml", "[[reply]]\n"+strings.SplitN(screensScript, "[[reply]]\n", 4)[2])
			p.write("../sleep.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sleep\", \"600\"] }\n")
			p.write("../fail.toml", "[[reply]]\nfail = \"context\"\n")
			p.write("../over.toml", "[[reply]]\nmessage = \"It splits a line into words.\"\n")
			other := p.besides()
			other.git("config", "user.name", "Ada")
			start, err := time.Parse(time.RFC3339, epoch)
			require.NoError(t, err)
			at := func(p *workspace, minutes int) *workspace { // half a minute away from the next word for an age
				there := *p
				there.environ = append(p.environ[:len(p.environ):len(p.environ)], kind.environ, clockVariable+"="+start.Add(time.Duration(minutes)*time.Minute-30*time.Second).Format(time.RFC3339))
				return &there
			}
			for i, c := range []struct {
				place *workspace
				exit  int
				args  string
			}{
				{p, 7, "-m script/../fail.toml"}, {p, 0, "-m script/../over.toml"}, {other, 0, "--detach -y -m script/../sleep.toml"}, {p, 0, "--detach -m script/../ask.toml"},
			} {
				out := at(c.place, 2*i).jp(append(append([]string{"query", "--new"}, strings.Fields(c.args)...), kind.names[[]int{2, 3, 1, 0}[i]])...)
				require.Equal(t, c.exit, out.exit, out.stderr)
			}
			p.waits()
			s := at(p, 9).sit(kind.columns, "watch", "--cfg", "style.theme="+kind.colours)
			s.WaitFor("2 need you · 1 working · 1 ready")
			s.WaitFor("Edit it?")
			holdsScreen(t, s, "watch-"+size)
			s.fits(kind.columns)
			if kind.colours == "none" {
				require.NotRegexp(t, `\x1b\[[0-9;]*[34]\d`, s.Raw())
				for _, word := range []string{"needs you", "working", "ready", "› 設定", "  Port", "  再試", "  Expl"} {
					require.Contains(t, s.Text(), "\n"+word)
				}
			}
			s.Type("q")
			require.Zero(t, s.exit())
			require.Zero(t, other.jp("kill", "newest").exit)
		})
	}
}

// exists reports whether a file is there, with a text if one is given.
func (p *workspace) exists(name, text string) bool {
	found, err := os.ReadFile(filepath.Join(p.dir, name))
	return err == nil && (text == "" || string(found) == text)
}

// Without colours and lines in place, jp prints the changes.
func TestWatchPlain(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, overwriteScript)
	p.waits()
	p.environ = append(p.environ, "TERM=dumb")
	s := p.sit(80, "watch")
	s.WaitFor(id.Short() + "  needs you")
	require.Zero(t, p.jp("answer", "n").exit)
	s.WaitFor(id.Short() + "  ready")
	require.NotContains(t, s.Raw(), "\x1b[?1049h")
	s.Type("\x03")
	require.Equal(t, 130, s.exit())
}

// Each change is one line of JSON, and jp ends when its pipe loses the reader.
func TestWatchJSON(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, overwriteScript)
	p.waits()
	cmd := p.command("watch", "--json")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	m := readManual(t).of("watch")
	next := func(group string) (row map[string]any) {
		for lines.Scan() {
			row = map[string]any{}
			require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
			for name, value := range row {
				require.True(t, fits(value, types(m, name)), "%s: %v is outside of %v", name, value, types(m, name))
			}
			if row["group"] == group || row["type"] == group {
				return row
			}
		}
		require.Fail(t, "no more lines")
		return nil
	}
	require.EqualValues(t, 1, next("watching")["json"])
	for row := next("needs_you"); row["question"] == nil; {
		row = next("needs_you")
	}
	require.Zero(t, p.jp("answer", "n").exit)
	row := next("ready")
	require.Equal(t, string(id), row["conversation"])
	require.Equal(t, p.dir, row["place"])
	require.Equal(t, "Over.", row["last"])
	require.Zero(t, row["pid"])
	require.NoError(t, out.Close())
	require.NoError(t, cmd.Wait())

	listed := p.jp("watch").stdout
	require.Contains(t, listed, "ready")
	require.Contains(t, listed, string(id))
}
