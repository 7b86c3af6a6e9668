package command_test

import (
	"bufio"
	"bytes"
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
	"jp/tool/command"
)

// family is a program that starts another, writes both ids into a pipe, and hangs.
const family = `sleep 600 & echo $$ $! > pids; wait`

// members returns a reader of family's output, once the program is up.
func members(t *testing.T, dir string) func() (parent, child int) {
	t.Helper()
	pipe := filepath.Join(dir, "pids")
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

// gone reports whether a process has ended, zombies included.
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
			p := sh(t, script)
			p.Grace = 100 * time.Millisecond
			up := members(t, p.Dir)
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
			var out bytes.Buffer
			p.Output = &out
			ended, err := p.Run(ctx, tool.Call{Started: func(pgid int) { group = pgid }})
			<-heard
			require.NoError(t, err)
			require.True(t, ended.Cancelled)
			require.False(t, ended.Success())
			require.Equal(t, "before\n", out.String(), "what it said so far is kept")
			require.Equal(t, parent, group, "the program leads its group")
			requireGone(t, parent, child)
		})
	}
}

func TestLimit(t *testing.T) {
	p := sh(t, "exec sleep 600")
	p.Limit, p.Grace = 50*time.Millisecond, 50*time.Millisecond
	group := 0
	ended, err := p.Run(t.Context(), tool.Call{Started: func(pgid int) { group = pgid }})
	require.NoError(t, err)
	require.True(t, ended.TimedOut)
	require.False(t, ended.Success())
	short, long := ended.Words()
	require.Equal(t, "timed out after 50ms", short)
	require.Equal(t, "[timed out after 50ms; its process group was ended]", long)
	requireGone(t, group)
}

func TestWhatIsLeftRunningBlocksNobody(t *testing.T) {
	p := sh(t, "sleep 600 & echo $!")
	p.Grace = 50 * time.Millisecond
	group := 0
	t.Cleanup(func() {
		if group > 0 {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
	var out bytes.Buffer
	p.Output = &out
	ended, err := p.Run(t.Context(), tool.Call{Started: func(pgid int) { group = pgid }})
	require.NoError(t, err)
	require.True(t, ended.Left)
	require.True(t, ended.Success())
	child, err := strconv.Atoi(strings.TrimSpace(out.String()))
	require.NoError(t, err)
	require.False(t, gone(child), "it goes on: the call ended well")
}

func TestLockIsInherited(t *testing.T) {
	p := sh(t, family)
	p.Grace = 100 * time.Millisecond
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	up := members(t, p.Dir)
	ctx, cancel := context.WithCancel(t.Context())
	done, started := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Run(ctx, tool.Call{Lock: lock, Started: func(int) { close(started) }})
	}()
	up()
	<-started // from here on the lock is the program's
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

// sh is a shell script as a program, in a folder of its own.
func sh(t *testing.T, script string) command.Program {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return command.Program{Argv: []string{"sh", "-c", script}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}}
}
