package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// outlives is a program that kills jp the first time, and goes on.
const outlives = `#!/bin/sh
read -r call
echo "$call" >>calls
if [ ! -e pid ]; then
	echo $$ >pid
	kill -9 $PPID
	exec sleep 600 >/dev/null 2>&1
fi
printf done
`

// outlived is a place whose jp was killed by a program that only reads, and that
// lives on.
func outlived(t *testing.T) (p *workspace, pid int) {
	t.Helper()
	p = ownPlace(t, outlives)
	p.write("../home/.config/jp/config.toml", "sandbox.enable = false\n"+strings.Replace(ownConfig, "command", "mutates = false\nrun = \"unattended\"\ncommand", 1))
	cmd := p.command("query", "-m", "script/../one.toml", "Go")
	require.Error(t, cmd.Run())
	text, err := os.ReadFile(filepath.Join(p.dir, "pid"))
	require.NoError(t, err)
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	return p, pid
}

// requireEnded waits until an orphaned process has ended.
func requireEnded(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err == nil && strings.Contains(string(stat), ") Z ") // it has no parent here to reap it
	}, time.Minute, time.Millisecond)
}

func TestACommandThatOutlivesJP(t *testing.T) {
	t.Parallel()
	p, pid := outlived(t)
	out := p.jp("continue")
	require.Equal(t, 4, out.exit, out.stderr)
	require.Contains(t, out.stderr, "own of the earlier run of")
	require.Len(t, p.calls(), 1)
	out = p.jp("kill", ".")
	require.Zero(t, out.exit, out.stderr)
	requireEnded(t, pid)
	out = p.jp("continue")
	require.Zero(t, out.exit, out.stderr)
	require.Equal(t, "done", p.result(0))
	require.Len(t, p.calls(), 2, "what only reads runs again")
	require.Empty(t, p.ofType("tool_started"))
	locks, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/locks/*.[0-9]*"))
	require.NoError(t, err)
	require.Empty(t, locks)
}

func TestADiscardEndsACommand(t *testing.T) {
	t.Parallel()
	p, pid := outlived(t)
	out := p.jp("continue", "--discard")
	require.Zero(t, out.exit, out.stderr)
	requireEnded(t, pid)
	require.Len(t, p.calls(), 1)
}
