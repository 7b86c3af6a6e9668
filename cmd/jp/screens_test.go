package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// screens holds the screens of a chat at its main moments: text with the escape sequences of its colours. `make screens` draws
// the pictures in docs/screens from them.
const screens = "testdata/screens"

const screensScript = `
[[reply]]
message = "First I read the parser."
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "shellwords.go" }
[[reply]]
[[reply.tool_call]]
name = "fs_modify_file"
arguments = { path = "shellwords.go", edits = [{ old = "\tswitch r {\n\tcase ' ', '\\t', '\\r', '\\n':\n\t\treturn true\n\t}\n\treturn false\n", new = "\treturn r == ' ' || r == '\\t' || r == '\\r' || r == '\\n'\n" }] }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "check.sh"] }
[[reply]]
message = "Done: **isSpace** is one line, and the tests pass."
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "check.sh", "slow"] }
[[reply]]
message = "One of the slow tests fails: an empty string gives one word."
`

const shellwords = `package shellwords

import "os"

// isSpace reports whether r separates words.
func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

func replaceEnv(getenv func(string) string, s string) string {
	if getenv == nil {
		getenv = os.Getenv
	}
	return s
}
`

// checkScript takes whole seconds, so that the width of its time is the same everywhere.
const checkScript = `sleep 1.1
if [ "$1" = slow ]; then
	for i in 1 2 3 4; do echo "ok    shellwords/part$i"; done
	echo "--- FAIL: TestEmpty (0.00s)"
	echo "    empty_test.go:12: want 0 words, got 1"
	echo FAIL
	exit 1
fi
echo "ok    shellwords"
`

// TestChatScreens has a question, the turn behind it, and a program that failed, at three sizes and with the colours that a
// terminal may have.
func TestChatScreens(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		columns, rows int
		colours       string
		config        string
		environ       []string
	}{
		{80, 24, "dark", "style.theme=dark", []string{"COLORTERM=truecolor"}},
		{80, 24, "light", "style.theme=light", []string{"COLORTERM=truecolor"}},
		{80, 24, "16", "style.theme=dark", nil},
		{80, 24, "none", "style.theme=dark", []string{"NO_COLOR=1"}},
		{48, 30, "dark", "style.theme=dark", []string{"COLORTERM=truecolor"}},
		{120, 40, "dark", "style.theme=dark", []string{"COLORTERM=truecolor"}},
	} {
		size := fmt.Sprintf("%dx%d-%s", kind.columns, kind.rows, kind.colours)
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.dir = filepath.Join(p.dir, "../home/shellwords") // whose name has the same width everywhere
			require.NoError(t, os.Mkdir(p.dir, 0o777))
			p.git("init", "-q")
			p.environ = append(p.environ, kind.environ...)
			p.write("../demo", screensScript)
			p.write("shellwords.go", shellwords)
			p.write("check.sh", checkScript)
			p.git("add", ".")
			p.git("commit", "-q", "-m", "second")
			s := p.sit(kind.columns, "chat", "-m", "script/../demo", "--cfg", kind.config, "--cfg", "policy.readers=false")
			s.Resize(kind.columns, kind.rows)
			s.prompted()
			s.Type("Make isSpace one line\r")
			s.WaitFor("Edit it?")
			s.prompted()
			holdsScreen(t, s, "question-"+size)
			s.Type("y")
			s.WaitFor("Run it?")
			s.prompted()
			s.Type("y")
			s.WaitFor("the tests pass")
			s.idle()
			holdsScreen(t, s, "chat-"+size)
			s.Type("Run the slow tests too\r")
			s.WaitFor("Run it?")
			s.prompted()
			s.Type("y")
			s.WaitFor("an empty string")
			s.idle()
			holdsScreen(t, s, "failure-"+size)
		})
	}
}

// vary are the parts of a screen that differ from run to run.
var vary = []struct {
	part *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`jp-c\d+-\w{4}`), "jp-c17900000000-k3fw"},
	{regexp.MustCompile(`main [0-9a-f]{7}`), "main 1a2b3c4"},
	{regexp.MustCompile(`(turn \d+ · )[\d.]+ m?s · [\d.]+k? in, [\d.]+k? out`), "${1}0.1 s · 13.1k in, 98 out"},
	{regexp.MustCompile(`\d s · you`), "1 s · you"},
	{regexp.MustCompile(`(?m) +$`), ""},
	{regexp.MustCompile(`--tools \w{4}`), "--tools k3fw"},
	{regexp.MustCompile(`\d\.\dk( +\d+ min)`), "3.1k$1"}, // of the prompt, which names the system
}

// holdsScreen waits until a terminal shows its golden file.
func holdsScreen(t *testing.T, s *sitting, name string) {
	t.Helper()
	shown := func() string {
		text := s.Painted() + "\n"
		for _, v := range vary {
			text = v.part.ReplaceAllString(text, v.as)
		}
		return text
	}
	file := filepath.Join(screens, name+".ansi")
	if *update {
		require.NoError(t, os.MkdirAll(screens, 0o777))
		require.NoError(t, os.WriteFile(file, []byte(shown()), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	for deadline := time.Now().Add(20 * time.Second); shown() != string(want) && time.Now().Before(deadline); { // it may be half drawn
		time.Sleep(10 * time.Millisecond)
	}
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(shown(), "\n"), "go test ./cmd/jp -run ChatScreens -update writes %s anew", file)
}
