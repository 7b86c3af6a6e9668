package shell_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/command"
	"jp/tool/shell"
)

func TestCancelKeepsTheOutput(t *testing.T) {
	f := newFixture(t, shell.Options{Grace: 100 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.root, "up"), 0o600))
	go func() {
		_ = f.run(t, sh("cat up"))
		cancel()
	}()
	result, err := f.start(t, ctx, sh("echo before; echo > up; exec sleep 600"), tool.Call{})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "before\n[cancelled; its process group was ended]\n", string(result.Content))
	require.True(t, result.IsError)
}

func TestTimeout(t *testing.T) {
	f := newFixture(t, shell.Options{Timeout: 50 * time.Millisecond, Grace: 50 * time.Millisecond})
	result := f.run(t, arguments{"argv": []string{"sleep", "600"}})
	require.True(t, result.IsError)
	require.Equal(t, "timed out after 50ms, 0 lines", result.Effect)
	require.Equal(t, "[timed out after 50ms; its process group was ended]\n", string(result.Content))

	result = f.run(t, arguments{"argv": []string{"sleep", "600"}, "timeout_s": 600})
	require.Equal(t, "timed out after 50ms, 0 lines", result.Effect, "a call gets no more than there is")

	for _, most := range []time.Duration{time.Hour, -1} {
		f = newFixture(t, shell.Options{Timeout: most, Grace: 50 * time.Millisecond})
		require.Equal(t, max(most, 0), f.tool.Definition().Timeout)
		result = f.run(t, arguments{"argv": []string{"sleep", "600"}, "timeout_s": 1})
		require.Equal(t, "timed out after 1s, 0 lines", result.Effect)
	}
	require.Equal(t, "exit 0, 0 lines", f.run(t, arguments{"argv": []string{"true"}}).Effect)
}

func TestWhatIsLeftRunningIsSaid(t *testing.T) {
	f := newFixture(t, shell.Options{Grace: 50 * time.Millisecond})
	group := 0
	t.Cleanup(func() {
		if group > 0 {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
	result, err := f.start(t, t.Context(), sh("sleep 600 & echo up"), tool.Call{Started: func(pgid int) { group = pgid }})
	require.NoError(t, err)
	require.False(t, result.IsError)
	require.Equal(t, "up\n[a process that it started still runs; its further output is not shown]\n", string(result.Content))
}

func TestLaunch(t *testing.T) {
	f := newFixture(t, shell.Options{Launch: func(argv []string, _ string) (command.Launch, error) {
		return command.Launch{Argv: append([]string{"echo", "launched"}, argv...)}, nil
	}})
	require.Equal(t, "launched true all\n", string(f.run(t, arguments{"argv": []string{"true", "all"}}).Content))
}

func TestAnEndedContextStartsNothing(t *testing.T) {
	f := newFixture(t, shell.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.start(t, ctx, arguments{"argv": []string{"touch", "made"}}, tool.Call{})
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(f.root, "made"))
}
