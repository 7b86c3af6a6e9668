package command_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/command"
)

// runProgram runs a program and returns its output.
func runProgram(t *testing.T, p command.Program, call tool.Call) (out, errs string, ended command.Ending) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p.Output = &stdout
	if p.Errors != nil {
		p.Errors = &stderr
	}
	ended, err := p.Run(t.Context(), call)
	require.NoError(t, err)
	return stdout.String(), stderr.String(), ended
}

func TestStreams(t *testing.T) {
	p := sh(t, "echo a; echo b >&2; echo c")
	out, errs, _ := runProgram(t, p, tool.Call{})
	require.Equal(t, "a\nb\nc\n", out, "in one, in order")
	require.Empty(t, errs)
	p.Errors = io.Discard
	out, errs, _ = runProgram(t, p, tool.Call{})
	require.Equal(t, "a\nc\n", out)
	require.Equal(t, "b\n", errs)
}

func TestStandardInput(t *testing.T) {
	p := sh(t, "cat")
	p.Stdin = []byte("any\x00\xff")
	out, _, ended := runProgram(t, p, tool.Call{})
	require.Equal(t, "any\x00\xff", out)
	require.True(t, ended.Success())

	p = sh(t, "exit 0")
	p.Stdin = bytes.Repeat([]byte("x"), 1<<20)
	_, _, ended = runProgram(t, p, tool.Call{})
	require.True(t, ended.Success(), "a program need not read what it gets")
}

func TestEndings(t *testing.T) {
	for script, want := range map[string][2]string{
		"exit 0":     {"exit 0", ""},
		"exit 3":     {"exit 3", "exit status 3"},
		"kill -9 $$": {"ended by SIGKILL", "ended by SIGKILL"},
	} {
		_, _, ended := runProgram(t, sh(t, script), tool.Call{})
		short, long := ended.Words()
		require.Equal(t, want, [2]string{short, long})
		require.Equal(t, script == "exit 0", ended.Success())
	}
}

func TestNothingOfJPIsInherited(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "k")
	p := sh(t, "exit 0")
	p.Argv, p.Env = []string{"env"}, nil
	out, _, _ := runProgram(t, p, tool.Call{})
	require.Empty(t, out, "no environment is none, not jp's own")

	environ := []string{"HOME=/home/ada", "JP_SESSION=x", "ANTHROPIC_API_KEY=k", "my_api_key=k", "GIT_DIR=/elsewhere", "TOKEN=t", "TOKENS=kept", "A=b=c"}
	got := command.Environment(environ, []string{"TOKEN"}, "/w", "count")
	require.Equal(t, []string{"HOME=/home/ada", "TOKENS=kept", "A=b=c"}, got[:3])
	require.Equal(t, []string{"PWD=/w", "JP_TOOL=count"}, got[len(got)-2:])
	for _, pair := range got[3 : len(got)-2] {
		name, _, _ := strings.Cut(pair, "=")
		require.Regexp(t, "EDITOR$|VISUAL|PAGER$|ASKPASS|TERMINAL_PROMPT", name)
	}
	require.Equal(t, "JP_SESSION=x", environ[1], "the caller's is as it was")
}

// A program that would wait for a person ends by itself, even without a sandbox.
func TestNoPersonIsWaitedFor(t *testing.T) {
	for script, want := range map[string]string{
		`eval "$GIT_EDITOR" file`:               "no editor here: give -m, or --no-edit\n",
		`eval "$VISUAL" file`:                   "no editor here: give -m, or --no-edit\n",
		`: </dev/tty`:                           "/dev/tty",
		`echo x | $PAGER; $GIT_ASKPASS; exit 1`: "x\n",
	} {
		p := sh(t, script)
		p.Env, p.Errors = command.Environment(p.Env, nil, p.Dir, "x"), nil
		out, _, ended := runProgram(t, p, tool.Call{})
		require.False(t, ended.Success(), script)
		require.Contains(t, out, want)
	}
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("x"), 0o644))
	for want, argv := range map[string][]string{
		"no such program: ":                      {"no-such-program-here"},
		"no such program: fork/exec ./missing":   {"./missing"},
		"not a program that can be run: ":        {"./text"},
		"argv names no program":                  {""},
		`the argument "a\x00b" has a NUL byte`:   {"echo", "a\x00b"},
		`the argument "ec\x00ho" has a NUL byte`: {"ec\x00ho"},
	} {
		_, err := command.Program{Argv: argv, Dir: dir}.Run(t.Context(), tool.Call{})
		require.Error(t, err)
		result := command.NotStarted(err)
		require.True(t, result.IsError)
		require.Contains(t, string(result.Content), want)
		require.True(t, strings.HasPrefix(result.Effect, "error: "))
		require.NotNil(t, result.WrittenFiles, "nothing ran, so nothing was written")
	}
	_, err := command.Program{Dir: dir}.Run(t.Context(), tool.Call{})
	require.EqualError(t, err, "argv names no program")
}

// opened is a file with a text, to be inherited.
func opened(t *testing.T, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestLaunchRewritesTheStart(t *testing.T) {
	closed := 0
	p := sh(t, "")
	p.Argv = []string{"echo", "hello"}
	p.Launch = func(argv []string, dir string) (command.Launch, error) {
		require.Equal(t, p.Dir, dir)
		return command.Launch{
			Argv:  slices.Concat([]string{"sh", "-c", `cat <&3; cat <&4; "$@"`, "sh"}, argv),
			Files: []*os.File{opened(t, "rules ")}, Close: func() { closed++ },
		}, nil
	}
	out, _, _ := runProgram(t, p, tool.Call{Lock: opened(t, "lock ")})
	require.Equal(t, "rules lock hello\n", out, "the lock comes behind the files")
	require.Equal(t, 1, closed)

	launch := p.Launch
	p.Launch = func(argv []string, dir string) (command.Launch, error) {
		l, err := launch(argv, dir)
		l.Attr = &syscall.SysProcAttr{Chroot: filepath.Join(dir, "missing")}
		return l, err
	}
	_, err := p.Run(t.Context(), tool.Call{})
	require.ErrorContains(t, err, "fork/exec", "the kernel is asked for more")

	p.Launch, closed = launch, 1
	p.Dir = filepath.Join(p.Dir, "missing")
	_, err = p.Run(t.Context(), tool.Call{})
	require.Error(t, err)
	require.Equal(t, 2, closed, "also where the start failed")
}

func TestLaunchThatFails(t *testing.T) {
	p := sh(t, "touch made")
	asked := 0
	p.Launch = func([]string, string) (command.Launch, error) {
		asked++
		return command.Launch{}, errors.New("no rules")
	}
	_, err := p.Run(t.Context(), tool.Call{})
	require.EqualError(t, err, "no rules")
	require.NoFileExists(t, filepath.Join(p.Dir, "made"))

	p.Launch = func([]string, string) (command.Launch, error) { return command.Launch{}, nil }
	_, err = p.Run(t.Context(), tool.Call{})
	require.ErrorContains(t, err, "no program is left to start")

	p.Argv = []string{"no-such-program-here"}
	_, err = p.Run(t.Context(), tool.Call{})
	require.ErrorIs(t, err, exec.ErrNotFound, "found out before anything is prepared")
	require.Equal(t, 1, asked)
}
