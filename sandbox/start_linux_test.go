package sandbox_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/sandbox"
)

// The start of an impossible program fails as it does without rules.
func TestErrorsOfTheStart(t *testing.T) {
	g := newGround(t)
	write(t, filepath.Join(g.work, "text"), "x")
	for _, name := range []string{"no-such-program-here", "./missing", "./text", "../work", "./text/x", filepath.Join(g.work, "missing")} {
		cmd := exec.Command(name)
		cmd.Dir = g.work
		want := cmd.Start()
		require.Error(t, want)
		_, err := sandbox.Prepare(g.rules, []string{name}, g.work)
		require.EqualError(t, err, want.Error())
		for _, kind := range []error{exec.ErrNotFound, fs.ErrNotExist, fs.ErrPermission} {
			require.Equal(t, errors.Is(want, kind), errors.Is(err, kind), "%s: %v", name, kind)
		}
	}
}

// The process that was to become the program reports late errors.
func TestLateErrors(t *testing.T) {
	g := newGround(t)
	for text, want := range map[string]struct {
		code int
		says string
	}{
		"#!/no/such/interpreter\n": {127, "no such program: fork/exec ./program: no such file or directory\n"},
		"\x00\x01":                 {126, "fork/exec ./program: exec format error\n"},
	} {
		write(t, filepath.Join(g.work, "program"), text)
		require.NoError(t, os.Chmod(filepath.Join(g.work, "program"), 0o755))
		out, err := g.confined(t, "./program")
		require.Equal(t, want.code, exitCode(err))
		require.Equal(t, want.says, out)
	}
}

// The program is the process that was started: its group, its arguments, its environment and its inherited
// files.
func TestBecome(t *testing.T) {
	g := newGround(t)
	script := []string{"sh", "-c", `echo $$ "$0" "$1" $KEPT; cat <&5; ls /proc/self/fd | tr '\n' ' '`, "a b", ""}
	confined, err := sandbox.Prepare(g.rules, script, g.work)
	require.NoError(t, err)
	defer confined.Close()
	lock, err := os.Open(filepath.Join(g.home, "note"))
	require.NoError(t, err)
	defer lock.Close()
	g.environ = append(g.environ, "KEPT=kept")
	start := func(cmd *exec.Cmd) (pid string, lines []string) {
		out, err := cmd.CombinedOutput()
		require.NoError(t, err)
		return strconv.Itoa(cmd.Process.Pid), strings.Split(string(out), "\n")
	}
	_, free := start(g.command(script, nil, nil, lock))
	_, err = lock.Seek(0, io.SeekStart)
	require.NoError(t, err)
	pid, lines := start(g.started(confined, lock))
	require.Equal(t, pid+" a b  kept", lines[0])
	require.Equal(t, "a note", lines[1])
	require.Equal(t, len(free), len(lines))
	require.Contains(t, strings.Fields(lines[2]), "5", "the lock is inherited")
	require.Subset(t, strings.Fields(free[2]), strings.Fields(lines[2]), "the rules are not")
}

// Without rules nothing runs.
func TestWithoutRules(t *testing.T) {
	g := newGround(t)
	made := filepath.Join(g.work, "made")
	out, err := g.free(os.Args[0], "confined", "touch", made)
	require.Equal(t, 2, exitCode(err))
	require.Contains(t, out, "jp starts this command itself: it came without rules")
	notRules, err := os.Open(filepath.Join(g.home, "note"))
	require.NoError(t, err)
	defer notRules.Close()
	_, err = g.run([]string{os.Args[0], "confined", "touch", made}, notRules)
	require.Equal(t, 2, exitCode(err))
	require.NoFileExists(t, made)
}

// The kernel limits the depth of walls in walls. If one more is too many, the program does not run.
func TestNotConfinedIsNotRun(t *testing.T) {
	g := newGround(t)
	out, err := g.confined(t, g.act("nest", "3")...)
	require.NoError(t, err, out)
	require.NoError(t, os.Remove(filepath.Join(g.work, "made")))
	out, err = g.confined(t, g.act("nest", "20")...)
	require.Error(t, err)
	require.Contains(t, out, "the program was not run, because it could not be confined: restrict with landlock")
	require.NoFileExists(t, filepath.Join(g.work, "made"))
}
