//go:build amd64 || arm64

package crashtest_test

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/internal/testing/crashtest"
)

// effect is the result of some steps.
func effect(t *testing.T, some []step) map[string]string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, perform(dir, some, io.Discard))
	return snapshot(t, dir)
}

func TestPoints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := command("steps", dir)
	var out strings.Builder
	cmd.Stdout = &out
	result := run(t, cmd, nil)
	require.Nil(t, result.Killed)
	require.Zero(t, result.Exit)
	require.Equal(t, strings.Repeat("to a pipe\n", len(steps)), out.String(), "all of the output is there")
	require.Equal(t, effect(t, steps), snapshot(t, dir))
	require.Len(t, result.Points, len(steps))
	for i, s := range steps {
		path := ""
		if s.path != "" {
			path = filepath.Join(dir, s.path)
		}
		require.Equal(t, crashtest.Point{N: i + 1, Syscall: s.syscall, Path: path}, result.Points[i])
	}
	require.Equal(t, "1 mkdirat "+filepath.Join(dir, "dir"), result.Points[0].String())
}

// TestKillAtEachPoint: the steps before the point are done, and no others.
func TestKillAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name string
		kill func(int) func(crashtest.Point) bool
		more int
	}{{"before", crashtest.At, 0}, {"after", crashtest.After, 1}} {
		for n := 1; n <= len(steps); n++ {
			t.Run(fmt.Sprintf("%s %d %s", kind.name, n, steps[n-1].syscall), func(t *testing.T) {
				dir := t.TempDir()
				result := run(t, command("steps", dir), kind.kill(n))
				require.NotNil(t, result.Killed)
				require.Equal(t, n, result.Killed.N)
				require.Equal(t, kind.more == 1, result.Killed.Returned)
				require.Equal(t, -1, result.Exit)
				require.Len(t, result.Points, n)
				require.Equal(t, effect(t, steps[:n-1+kind.more]), snapshot(t, dir))
			})
		}
	}
}

func TestAllThreadsAreCounted(t *testing.T) {
	t.Parallel()
	total := threads * filesEach
	dir := t.TempDir()
	whole := run(t, command("threads", dir), nil)
	require.Len(t, whole.Points, total)
	require.Len(t, snapshot(t, dir), total+1)
	dir = t.TempDir()
	killed := run(t, command("threads", dir), crashtest.At(total/2))
	require.NotContains(t, snapshot(t, dir), filepath.Base(killed.Killed.Path))
	require.Less(t, len(snapshot(t, dir)), total/2+1, "the folder itself, and fewer files than points")
	seen := map[string]bool{}
	for i, p := range whole.Points {
		require.Equal(t, i+1, p.N)
		require.False(t, seen[p.Path], p.Path)
		seen[p.Path] = true
	}
}

func TestExit(t *testing.T) {
	t.Parallel()
	require.Equal(t, 7, run(t, command("fail"), nil).Exit)
	suicide := run(t, command("suicide"), nil)
	require.Equal(t, -1, suicide.Exit)
	require.Nil(t, suicide.Killed)
}

// A canceller ends a context at the first thing that is written.
type canceller struct {
	strings.Builder
	cancel context.CancelFunc
}

func (c *canceller) Write(text []byte) (int, error) {
	defer c.cancel()
	return c.Builder.Write(text)
}

func TestTheEndOfTheContextEndsAll(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command("hang")
	out := &canceller{cancel: cancel}
	cmd.Stdout = out
	run(t, command("fail"), nil) // or skip
	result, err := crashtest.Run(ctx, cmd, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, result.Points, "those so far")
	var child int
	_, err = fmt.Sscan(out.String(), &child)
	require.NoError(t, err)
	require.Eventually(t, func() bool { // until init has taken note
		return unix.Kill(child, 0) == unix.ESRCH
	}, 10*time.Second, time.Millisecond)

	_, err = crashtest.Run(ctx, command("hang"), nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNoSuchProgram(t *testing.T) {
	t.Parallel()
	run(t, command("fail"), nil) // or skip
	cmd := exec.Command(filepath.Join(t.TempDir(), "missing"))
	_, err := crashtest.Run(t.Context(), cmd, nil)
	require.ErrorContains(t, err, "missing")
	require.NotErrorIs(t, err, crashtest.ErrUnsupported)
}
