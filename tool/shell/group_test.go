package shell_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/shell"
)

// family is a program that starts another, says both ids into a pipe, and hangs.
const family = `sleep 600 & echo $$ $! > pids; wait`

// members reads what family says. It returns once the program is up.
func members(t *testing.T, f *fixture) func() (parent, child int) {
	t.Helper()
	pipe := filepath.Join(f.root, "pids")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	return func() (parent, child int) {
		in, err := os.Open(pipe) // waits for the writer
		require.NoError(t, err)
		defer in.Close()
		line, err := bufio.NewReader(in).ReadString('\n')
		require.NoError(t, err)
		_, err = fmt.Sscan(line, &parent, &child)
		require.NoError(t, err)
		return parent, child
	}
}

// gone says whether a process has ended; one that nobody waited for counts.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func requireGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		require.Positive(t, pid)
		require.Eventually(t, func() bool { return gone(pid) }, time.Minute, time.Millisecond, "process %d", pid)
	}
}

func TestCancelEndsTheGroup(t *testing.T) {
	for name, script := range map[string]string{
		"on TERM":                        "echo before; " + family,
		"that ignores TERM":              "trap '' TERM; echo before; " + family,
		"with a child that ignores TERM": `echo before; sh -c 'trap "" TERM; echo $PPID $$ > pids; exec sleep 600' >/dev/null 2>&1 & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, shell.Options{Grace: 100 * time.Millisecond})
			up := members(t, f)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var parent, child int
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				parent, child = up()
				cancel()
			}()
			group := 0
			result, err := f.start(t, ctx, sh(script), tool.Call{Started: func(pgid int) { group = pgid }})
			<-heard
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, "before\n[cancelled; its processes were ended]\n", string(result.Content), "what it said so far is kept")
			require.True(t, result.IsError)
			require.Equal(t, parent, group, "the program leads its group")
			requireGone(t, parent, child)
		})
	}
}

func TestTimeout(t *testing.T) {
	f := newFixture(t, shell.Options{Timeout: 50 * time.Millisecond, Grace: 50 * time.Millisecond})
	group := 0
	result, err := f.start(t, t.Context(), arguments{"argv": []string{"sleep", "600"}}, tool.Call{Started: func(pgid int) { group = pgid }})
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Equal(t, "timed out after 50ms, 0 lines", result.Effect)
	require.Equal(t, "[timed out after 50ms; its processes were ended]\n", string(result.Content))
	requireGone(t, group)

	result, err = f.start(t, t.Context(), arguments{"argv": []string{"sleep", "600"}, "timeout_s": 1}, tool.Call{})
	require.NoError(t, err)
	require.Equal(t, "timed out after 1s, 0 lines", result.Effect)
}

func TestWhatIsLeftRunningBlocksNobody(t *testing.T) {
	f := newFixture(t, shell.Options{Grace: 50 * time.Millisecond})
	group := 0
	t.Cleanup(func() {
		if group > 0 {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
	result, err := f.start(t, t.Context(), sh("sleep 600 & echo $!"), tool.Call{Started: func(pgid int) { group = pgid }})
	require.NoError(t, err)
	require.False(t, result.IsError)
	line, note, _ := strings.Cut(string(result.Content), "\n")
	require.Equal(t, "[a process that it started still runs; its further output is not shown]\n", note)
	child, err := strconv.Atoi(line)
	require.NoError(t, err)
	require.False(t, gone(child), "it goes on: the call ended well")
}

func TestLockIsInherited(t *testing.T) {
	f := newFixture(t, shell.Options{Grace: 100 * time.Millisecond})
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	up := members(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = f.start(t, ctx, sh(family), tool.Call{Lock: lock})
	}()
	up()
	require.NoError(t, lock.Close())

	other, err := os.Open(path)
	require.NoError(t, err)
	defer other.Close()
	held := syscall.Flock(int(other.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	require.ErrorIs(t, held, syscall.EWOULDBLOCK, "the program holds it, though jp let go")
	cancel()
	<-done
	require.Eventually(t, func() bool {
		return syscall.Flock(int(other.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	}, time.Minute, time.Millisecond)
}

func TestAnEndedContextStartsNothing(t *testing.T) {
	f := newFixture(t, shell.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.start(t, ctx, arguments{"argv": []string{"touch", "made"}}, tool.Call{})
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(f.root, "made"))
}
