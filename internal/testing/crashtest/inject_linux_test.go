package crashtest_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest"
)

// inject is run with an act at the points of all processes.
func inject(t *testing.T, cmd *exec.Cmd, act func(crashtest.Point) crashtest.Act) crashtest.Result {
	t.Helper()
	result, err := crashtest.Inject(t.Context(), cmd, act)
	if errors.Is(err, crashtest.ErrUnsupported) {
		// If tracing is forbidden, calls cannot be made to fail.
		t.Skip(err)
	}
	require.NoError(t, err)
	return result
}

// at does something at one point, once.
func at(n int, act crashtest.Act) func(crashtest.Point) crashtest.Act {
	return func(p crashtest.Point) crashtest.Act {
		if p.N == n && !p.Returned {
			return act
		}
		return crashtest.Act{}
	}
}

// numberOf is the point of a call in an undisturbed run.
func numberOf(t *testing.T, is func(crashtest.Point) bool) int {
	t.Helper()
	whole := inject(t, command("steps", t.TempDir()), at(0, crashtest.Act{}))
	require.Zero(t, whole.Exit)
	for _, p := range whole.Points {
		if is(p) {
			return p.N
		}
	}
	require.Fail(t, "no such point", "%v", whole.Points)
	return 0
}

// TestChildrenAreTraced: the points are those of the program, and of its child if that runs.
func TestChildrenAreTraced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := inject(t, command("steps", dir), at(0, crashtest.Act{}))
	require.Zero(t, whole.Exit)
	require.Empty(t, whole.Faults)
	require.Equal(t, effect(t, steps), snapshot(t, dir))
	self, err := os.Executable()
	require.NoError(t, err)
	var childs []string
	for _, p := range whole.Points {
		if p.Child != "" {
			require.Equal(t, filepath.Base(self), p.Child)
			require.Equal(t, filepath.Join(dir, "touched"), p.Path)
			require.Contains(t, p.String(), p.Child+": "+p.Syscall)
			childs = append(childs, p.Syscall)
		}
	}
	require.Equal(t, []string{"openat", "write"}, childs)
	require.Len(t, whole.Points, len(steps)+len(childs))
}

// TestFaultAtEachPoint: a call that fails is not performed, and the program gets the error.
func TestFaultAtEachPoint(t *testing.T) {
	t.Parallel()
	for n := 1; n <= len(steps); n++ {
		errno := []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT}[n%3]
		t.Run(fmt.Sprint(n, " ", steps[n-1].syscall), func(t *testing.T) {
			own := 0
			act := func(p crashtest.Point) (act crashtest.Act) {
				if p.Child == "" && !p.Returned {
					own++
				}
				if own == n {
					act.Errno = errno
				}
				return act
			}
			dir, words := t.TempDir(), new(strings.Builder)
			cmd := command("steps", dir)
			cmd.Stderr = words
			result := inject(t, cmd, act)
			require.Len(t, result.Faults, 1, "it ends there")
			require.Equal(t, 1, result.Exit)
			require.Contains(t, words.String(), errno.Error())
			require.Contains(t, words.String(), steps[n-1].syscall)
			require.Equal(t, effect(t, steps[:n-1]), snapshot(t, dir))
		})
	}
}

// TestShortWrite: half of the bytes are written, and a later call is whole.
func TestShortWrite(t *testing.T) {
	t.Parallel()
	n := numberOf(t, func(p crashtest.Point) bool { return p.Syscall == "write" })
	dir := t.TempDir()
	result := inject(t, command("steps", dir), func(p crashtest.Point) crashtest.Act {
		if p.N == n+1 && !p.Returned { // half of "four", and then "ive" behind its first byte
			return crashtest.Act{Errno: syscall.EIO}
		}
		return at(n, crashtest.Act{Short: true})(p)
	})
	require.Len(t, result.Faults, 2)
	require.Equal(t, "-rw------- \"fo\"", snapshot(t, dir)["old"])

	other := numberOf(t, func(p crashtest.Point) bool { return p.Syscall == "fsync" })
	dir = t.TempDir()
	result = inject(t, command("steps", dir), at(other, crashtest.Act{Short: true}))
	require.Empty(t, result.Faults)
	require.Equal(t, effect(t, steps), snapshot(t, dir))
}

// TestFaultInAChild: the program goes on, since it ignores its child.
func TestFaultInAChild(t *testing.T) {
	t.Parallel()
	n := numberOf(t, func(p crashtest.Point) bool { return p.Child != "" })
	want := effect(t, steps)
	delete(want, "touched")
	for name, act := range map[string]crashtest.Act{"fault": {Errno: syscall.ENOSPC}, "kill": {Kill: true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := command("steps", dir)
			cmd.Stderr = io.Discard
			result := inject(t, cmd, at(n, act))
			require.Zero(t, result.Exit)
			require.Equal(t, want, snapshot(t, dir))
			require.Equal(t, act.Kill, result.Killed != nil)
			require.Equal(t, act.Kill, len(result.Faults) == 0)
		})
	}
}
