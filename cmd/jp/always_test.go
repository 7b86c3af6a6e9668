package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameCommand calls one command twice.
const sameCommand = `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo one"] }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo one"] }
[[reply]]
message = "Over."
`

// A command that is always allowed is asked about once: in the same turn, in a later one, and in
// the next query. The rule is in the user's own file for the repository, and nowhere else.
func TestAlwaysIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	p, s := talk(t, 80, sameCommand)
	s.Type("Run it\r")
	s.answers("? help", "A")
	s.WaitFor("Always run what begins with these words, in this repository?\n  sh -c 'echo one'\n")
	s.answers("n back", "y")
	s.WaitFor("Over.")
	s.idle()
	require.Equal(t, 2, strings.Count(s.Text(), "● sh -c 'echo one'"))
	require.Equal(t, 1, strings.Count(s.Text(), "you said yes"))
	require.Equal(t, 1, strings.Count(s.Text(), "always allowed"))
	s.Type("Again\r")
	s.WaitFor("turn 2 · ")
	s.idle()
	s.Type("\x04")
	require.Zero(t, s.exit())
	out := p.jp("query", "--new", "--policy", "deny", "-m", "script/../talk.toml", "Run it")
	require.Zero(t, out.exit, out.stderr)
	require.NotContains(t, out.stderr, "declined")

	rules := p.jp("config", "show", "policy.allow").stdout
	require.Contains(t, rules, `[["sh", "-c", "echo one"]]`)
	require.Contains(t, rules, "jp/repositories/")
	require.NoFileExists(t, filepath.Join(p.dir, ".jp/config.toml"))
	files := strings.Split(strings.TrimSpace(p.jp("config", "path").stdout), "\n")
	require.Len(t, files, 3)
	text, err := os.ReadFile(files[2])
	require.NoError(t, err)
	require.Regexp(t, `^# Your settings for the repository ".*"\.\n\n?\[policy\]\nallow = `, string(text))
	for _, e := range p.ofType("inquiry_response") {
		require.NotContains(t, e, "arguments")
	}
}

// What would run unasked is asked about if it overwrites a file, with the difference and the keys of an edit. Then its block shows
// both sides.
func TestAlwaysAsksBeforeItOverwrites(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"rule": {"--cfg", `policy.allow_edits=["."]`}, "edits": {"-p", "edits"}, "auto": {"-p", "auto"}} {
		for _, width := range []int{80, 48} {
			t.Run(fmt.Sprint(name, width), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.write("../talk.toml", overwriteScript)
				s := p.sit(width, append([]string{"chat", "-m", "script/../talk.toml"}, args...)...)
				s.WaitForEnd(">")
				s.Type("Write it\r")
				s.WaitForEnd("? help\n>")
				for _, part := range []string{"    1 - # A repository\n    1 + new\n", "y yes, overwrite it   n no", "w no, say why   e edit   d details"} {
					require.Contains(t, s.Text(), part)
				}
				require.NotContains(t, s.Text(), "always")
				s.Type("y")
				s.WaitFor("turn 1 · ")
				require.Regexp(t, `● create README.md +\+1 −1 · you said yes @\d+\n +1 - # A repository\n +1 \+ new\n  Over.`, s.Text())
				require.Len(t, p.ofType("inquiry_response"), 1)
				require.Equal(t, "new\n", p.read("README.md"))
			})
		}
	}
}

// sameFolder changes two files of one folder, and one beside it.
const sameFolder = `
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "src/one.txt", content = "one\n" }
[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "src/two.txt", content = "two\n" }
[[reply]]
message = "Over."
`

// The folder of an edit is on the screen before A is pressed. Then edits in it run, in an attached terminal as in the chat.
func TestAlwaysEdits(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 48} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			p, s := talk(t, width, sameFolder)
			s.Type("Write them\r")
			s.WaitFor("A always below src/")
			s.answers("? help", "A")
			s.WaitFor("\n  src/\n! jp still asks")
			s.answers("up   n back", "y")
			s.WaitFor("Over.")
			s.idle()
			s.Type("\x04")
			require.Zero(t, s.exit())
			answers := p.ofType("inquiry_response")
			require.Len(t, answers, 2)
			require.Equal(t, []any{"user", "config", "allow rule: edits below src/"}, []any{answers[0]["by"], answers[1]["by"], answers[1]["reason"]})
			require.Contains(t, p.jp("config", "show", "policy.allow_edits").stdout, `policy.allow_edits = ["src"]`)
			require.NoFileExists(t, filepath.Join(p.dir, ".jp/config.toml"))
		})
	}
	t.Run("attached", func(t *testing.T) {
		t.Parallel()
		p, id := inBackground(t, sameFolder)
		s := p.sit(80, "attach", id.Short())
		s.answers("? help", "A")
		s.answers("up   n back", "y")
		require.Zero(t, s.exit())
		require.Contains(t, s.Text(), "Over.")
		require.Equal(t, 1, strings.Count(s.Text(), "you said yes"))
		require.Equal(t, 1, strings.Count(s.Text(), "always allowed"))
	})
	t.Run("jp answer", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t)
		p.write("../same.toml", sameFolder)
		require.NotZero(t, p.jp("query", "--policy", "defer", "--non-interactive", "-m", "script/../same.toml", "Write them").exit)
		s := p.sit(80, "answer")
		s.answers("? help", "A")
		s.answers("up   n back", "y")
		require.Zero(t, s.exit())
		out := p.jp("continue", "--policy", "deny", "--non-interactive")
		require.Zero(t, out.exit, out.stderr)
		require.FileExists(t, filepath.Join(p.dir, "src/two.txt"))
	})
}

// A tool of an MCP server and the tool that delegates have the same answer, and are asked about once.
func TestAlwaysTools(t *testing.T) {
	t.Parallel()
	const delegates = `
[[reply]]
[[reply.tool_call]]
name = "delegate"
arguments = { task = "Work on it", model = "script/../child.toml" }
[[reply]]
[[reply.tool_call]]
name = "delegate"
arguments = { task = "Work on it again", model = "script/../child.toml" }
[[reply]]
message = "Over."
`
	for name, tt := range map[string]struct {
		script, asks, rule string
	}{
		"an MCP server": {strings.Replace(callRun, "[[reply]]\nmessage = \"Over.\"", "[[reply]]\n[[reply.tool_call]]\nname = \"mcp__fake__run\"\n[[reply]]\nmessage = \"Over.\"", 1),
			"Always run this tool, in this repository?", "mcp__fake__run"},
		"delegates": {delegates, "Always give tasks to delegates, in this repository?", "delegate"},
	} {
		for _, width := range []int{80, 48} {
			t.Run(fmt.Sprint(name, " ", width), func(t *testing.T) {
				t.Parallel()
				p := serverPlace(t, "late")
				require.Zero(t, p.jp("trust", "--mcp", "fake", "-y").exit)
				p.write("../talk.toml", tt.script)
				p.write("../child.toml", "[[reply]]\nmessage = \"Done it.\"\n")
				s := p.chat(width)
				s.Type("Go\r")
				s.WaitFor("A always")
				s.answers("? help", "A")
				s.Wait(tt.asks, func() bool { return strings.Contains(strings.ReplaceAll(s.Text(), "\n", " "), tt.asks) })
				s.answers("n back", "y")
				s.WaitFor("Over.")
				s.idle()
				s.Type("\x04")
				require.Zero(t, s.exit())
				var by []any
				for _, e := range p.ofType("inquiry_response") {
					by = append(by, e["by"])
				}
				require.Equal(t, []any{"user", "config"}, by)
				require.Contains(t, p.jp("config", "show", "policy.allow_tools").stdout, tt.rule)
				require.NoFileExists(t, filepath.Join(p.dir, ".jp/config.toml"))
			})
		}
	}
}

// A query's own question has the same answer, and the user may shorten its rule.
func TestAlwaysInAQuery(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../same.toml", sameCommand)
	s := p.sit(80, "query", "-m", "script/../same.toml", "Run it")
	s.answers("? help", "A")
	s.answers("less   n back", "-")
	s.WaitFor("\n  sh -c\n")
	s.answers("+ one more   n back", "-")
	s.WaitFor("! that is every command of sh")
	s.answers("+ one more   n back", "y")
	require.Zero(t, s.exit())
	require.Contains(t, p.jp("config", "show", "policy.allow").stdout, `[["sh"]]`)
}

// The editor opens the file that the tool would write.
func TestEditedByYou(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../make.toml", makeScript)
	p.write("../editor", "#!/bin/sh\ncp \"$1\" ../opened\necho changed >\"$1\"\n")
	require.NoError(t, os.Chmod(filepath.Join(p.dir, "../editor"), 0o755))
	p.environ = append(p.environ, "JP_EDITOR=../editor")
	s := p.sit(100, "query", "-m", "script/../make.toml", "Make files")
	s.answers("? help", "e")
	s.WaitFor("call 2 of 2")
	s.answers("? help", "y")
	s.WaitFor("+1 −0 · you edited it")
	s.WaitFor("1 + changed")
	require.Zero(t, s.exit())
	opened, err := os.ReadFile(filepath.Join(p.dir, "../opened"))
	require.NoError(t, err)
	require.Equal(t, "made\n", string(opened))
	text, err := os.ReadFile(filepath.Join(p.dir, "made.txt"))
	require.NoError(t, err)
	require.Equal(t, "changed\n", string(text))
	require.Equal(t, 1, strings.Count(s.Text(), "you edited it"))
}

// A rule that a person allows in an attached terminal counts at once in the process that runs the
// turn.
func TestAlwaysInAnAttachedTerminal(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, sameCommand)
	s := p.sit(80, "attach", id.Short())
	s.answers("? help", "A")
	s.answers("less   n back", "y")
	require.Zero(t, s.exit())
	require.Contains(t, s.Text(), "Over.")
	require.Equal(t, 2, strings.Count(s.Text(), "● sh -c 'echo one'"))
	require.Equal(t, 1, strings.Count(s.Text(), "you said yes"))
	require.Equal(t, 1, strings.Count(s.Text(), "always allowed"))
}

// A rule that a higher layer overrides is not written, and the question stays.
func TestAlwaysBelowAnotherLayer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../same.toml", sameCommand)
	p.environ = append(p.environ, `JP_CFG_POLICY__ALLOW=[["make"]]`)
	s := p.sit(80, "query", "-m", "script/../same.toml", "Run it")
	s.answers("? help", "A")
	s.answers("less   n back", "y")
	s.WaitFor("The rule was not added: JP_CFG_POLICY__ALLOW sets policy.allow")
	s.answers("? help", "n")
	s.WaitFor("you said no")
	require.NoDirExists(t, filepath.Join(p.dir, "../home/.config/jp/repositories"))
}
