package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	s.WaitFor("jp watch · 2 needs you · 1 working")
	s.Type("\x1b[F")
	s.WaitFor("› Sleep")
	s.WaitFor("    sleep 600")
	s.Type("s")
	s.WaitFor("s once more stops")
	s.Type("s")
	s.WaitFor("jp watch · 2 needs you · 1 ready")
	s.Type("\x1b[H")
	s.WaitFor("› Make it long")
	s.WaitFor("create many.txt")
	s.WaitFor("added lines hidden: d") // what is approved is shown, or counted
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

// exists reports whether a file is there, with a text if one is given.
func (p *workspace) exists(name, text string) bool {
	found, err := os.ReadFile(filepath.Join(p.dir, name))
	return err == nil && (text == "" || string(found) == text)
}

// Without colours and lines in place, jp says what changes.
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

// Each change is one line of JSON, and a pipe that no one reads any more ends jp.
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
