package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sh makes an engine with one hook: a script of a shell.
func sh(t *testing.T, p Point, script string, opts Options) *Engine {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	return New(map[Point][]string{p: {"sh", "-c", script}}, opts)
}

func TestWhatAHookDecides(t *testing.T) {
	for name, c := range map[string]struct {
		point  Point
		script string
		want   Decision
		said   string
		err    error
		why    string
	}{
		"no objection":                {ToolPre, "exit 0", Decision{}, "", nil, ""},
		"words for the user":          {ToolPre, "echo hm >&2", Decision{}, "hm\n", nil, ""},
		"denied":                      {ToolPre, `echo '{"deny":"no"}'`, Decision{Denied: true, Reason: "no"}, "", nil, ""},
		"exit 2":                      {ToolPre, "echo not today >&2; exit 2", Decision{Denied: true, Reason: "not today"}, "", nil, ""},
		"exit 2 without a word":       {ToolPre, "exit 2", Decision{Denied: true}, "", nil, ""},
		"exit 2 with JSON":            {ToolPre, `echo '{"deny":"json"}'; echo words >&2; exit 2`, Decision{Denied: true, Reason: "json"}, "words\n", nil, ""},
		"exit 2 and no objection":     {ToolPre, `echo '{}'; exit 2`, Decision{Denied: true}, "", nil, ""},
		"exit 2 and other arguments":  {ToolPre, `echo '{"arguments":{}}'; exit 2`, Decision{Denied: true}, "", nil, ""},
		"exit 2 and garbage":          {ToolPre, `echo x; exit 2`, Decision{Denied: true}, "", nil, ""},
		"a turn, by exit 2":           {TurnStart, "echo no >&2; exit 2", Decision{Denied: true, Reason: "no"}, "", nil, ""},
		"a note by exit 2":            {ToolPost, "echo lint >&2; exit 2", Decision{Note: "lint"}, "", nil, ""},
		"exit 2 where nothing hangs":  {TurnEnd, "exit 2", Decision{}, "", ErrStatus, "exit status 2"},
		"exit 1":                      {ToolPre, `echo '{}'; echo oh >&2; exit 1`, Decision{}, "oh\n", ErrStatus, "exit status 1"},
		"killed":                      {ToolPre, `kill -9 $$`, Decision{}, "", ErrStatus, "signal: killed"},
		"garbage":                     {ToolPre, `echo ok`, Decision{}, "", ErrDecision, "no decision"},
		"too much":                    {ToolPre, `head -c 2000000 /dev/zero`, Decision{}, "", ErrDecision, "more than 1048576 bytes"},
		"too much for nobody":         {TurnEnd, `head -c 2000000 /dev/zero`, Decision{}, "", nil, ""},
		"a program that is not there": {ToolPre, "exec /nonexistent/hook 2>/dev/null", Decision{}, "", ErrStatus, "exit status 12"},
	} {
		t.Run(name, func(t *testing.T) {
			d, said, err := sh(t, c.point, c.script, Options{}).Run(t.Context(), Input{Point: c.point})
			require.Equal(t, c.want, d)
			require.Equal(t, c.said, said)
			require.ErrorIs(t, err, c.err)
			if c.why != "" {
				require.ErrorContains(t, err, c.why)
			}
		})
	}
}

func TestAHookThatCannotBeStarted(t *testing.T) {
	e := New(map[Point][]string{ToolPre: {"./hook"}}, Options{Dir: t.TempDir()})
	require.True(t, e.Has(ToolPre))
	require.False(t, e.Has(TurnEnd))
	_, _, err := e.Run(t.Context(), Input{Point: ToolPre})
	require.ErrorIs(t, err, os.ErrNotExist)
	d, said, err := e.Run(t.Context(), Input{Point: TurnEnd})
	require.NoError(t, err)
	require.Zero(t, d)
	require.Empty(t, said)
}

func TestARelativeProgramIsTheWorkspaces(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hook"), []byte("#!/bin/sh\npwd -P >&2\n"), 0o700))
	_, said, err := New(map[Point][]string{ToolPre: {"./hook"}}, Options{Dir: dir}).Run(t.Context(), Input{Point: ToolPre})
	require.NoError(t, err)
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.Equal(t, real, strings.TrimSpace(said))
}

func TestWhatAHookIsTold(t *testing.T) {
	in := Input{
		Point: ToolPost, Conversation: "jp-c17528832001-k3f9", Turn: 2, Model: "test/model",
		Tool:   &Tool{Seq: 7, Name: "shell_run", Arguments: []byte(`{"argv":["ls"]}`), Subject: "ls", Effect: "changes"},
		Result: &Result{Content: "a <b>\n", IsError: true, Changed: []string{"a.go"}, DurationMS: 12},
	}
	e := sh(t, ToolPost, "cat > told", Options{})
	_, _, err := e.Run(t.Context(), in)
	require.NoError(t, err)
	told, err := os.ReadFile(filepath.Join(e.opts.Dir, "told"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(told), "\n"), "one line")
	in.Version, in.Workspace = 1, e.opts.Dir
	want, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(told))
	require.Contains(t, string(told), `{"v":1,"point":"tool-post",`)
	require.Contains(t, string(told), `"content":"a <b>\n"`)
	require.NotContains(t, string(told), "inquiry", "what the point is not about is left out")
}

func TestTheEnvironmentOfAHook(t *testing.T) {
	e := sh(t, ToolPre, "env | sort > told", Options{
		Environ: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=/home/ada", "PWD=/elsewhere", "JP_SESSION=x", "jp_cfg_model=x", "GIT_DIR=/x", "OPENAI_API_KEY=x",
			"openai_api_key=x", "MY_KEY=x", "JP_HOOK=other",
		},
		Secret: []string{"MY_KEY"},
	})
	_, _, err := e.Run(t.Context(), Input{Point: ToolPre})
	require.NoError(t, err)
	told, err := os.ReadFile(filepath.Join(e.opts.Dir, "told"))
	require.NoError(t, err)
	names := map[string]string{}
	for line := range strings.Lines(string(told)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		names[name] = value
	}
	for _, own := range []string{"_", "SHLVL", "OLDPWD"} { // the shell's
		delete(names, own)
	}
	require.Equal(t, map[string]string{"PATH": os.Getenv("PATH"), "HOME": "/home/ada", "PWD": e.opts.Dir, "JP_HOOK": "tool-pre"}, names)
}

func TestAHookThatTakesTooLong(t *testing.T) {
	t.Parallel()
	e := sh(t, ToolPre, `sleep 600 & echo $! > child; echo half >&2; wait`, Options{Limit: 2 * time.Second, Grace: 100 * time.Millisecond})
	_, said, err := e.Run(t.Context(), Input{Point: ToolPre})
	require.ErrorIs(t, err, ErrTimeout)
	require.ErrorContains(t, err, "it took longer than 2s")
	require.Equal(t, "half\n", said)
	requireEnded(t, filepath.Join(e.opts.Dir, "child"))
}

func TestAHookThatDoesNotWantToEnd(t *testing.T) {
	t.Parallel()
	e := sh(t, ToolPre, `trap '' TERM; sh -c 'trap "" TERM; echo $$ > child; while :; do sleep 600; done'`,
		Options{Limit: 2 * time.Second, Grace: 100 * time.Millisecond})
	_, _, err := e.Run(t.Context(), Input{Point: ToolPre})
	require.ErrorIs(t, err, ErrTimeout)
	requireEnded(t, filepath.Join(e.opts.Dir, "child"))
}

// requireEnded waits until the process is gone that a hook wrote the id of.
func requireEnded(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		zombie := err == nil && strings.Contains(string(stat), ") Z ")
		return zombie || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}, time.Minute, time.Millisecond)
}

func TestTheEndOfTheContextEndsAHook(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	e := sh(t, ToolPre, `echo > ready; sleep 600`, Options{Grace: 100 * time.Millisecond})
	ready := filepath.Join(e.opts.Dir, "ready")
	require.NoError(t, syscall.Mkfifo(ready, 0o600))
	go func() {
		_, _ = os.ReadFile(ready) // which ends when the hook has written
		cancel(cause)
	}()
	_, _, err := e.Run(ctx, Input{Point: ToolPre})
	require.ErrorIs(t, err, cause)
	_, _, err = e.Run(ctx, Input{Point: ToolPre})
	require.ErrorIs(t, err, cause, "and none is started after it")
}

func TestAHookNeedNotReadWhatItIsTold(t *testing.T) {
	large := Input{Point: ToolPre, Request: strings.Repeat("x", 1<<20)}
	_, _, err := sh(t, ToolPre, "exec <&-; exit 0", Options{}).Run(t.Context(), large)
	require.NoError(t, err)
	d, _, err := sh(t, ToolPre, `echo '{"deny":"no"}'`, Options{}).Run(t.Context(), large)
	require.NoError(t, err)
	require.True(t, d.Denied)
}

func TestWhatAHookLeavesBehindIsNotWaitedFor(t *testing.T) {
	e := sh(t, ToolPre, `sleep 600 & echo $! > child; echo '{"deny":"no"}'`, Options{Grace: 100 * time.Millisecond})
	d, _, err := e.Run(t.Context(), Input{Point: ToolPre})
	require.NoError(t, err)
	require.True(t, d.Denied)
	text, err := os.ReadFile(filepath.Join(e.opts.Dir, "child"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it still runs")
}

func TestTheLimitsOfHooks(t *testing.T) {
	e := New(nil, Options{})
	require.Equal(t, 30*time.Second, e.limit(ToolPre))
	require.Equal(t, 10*time.Second, e.limit(TurnEnd))
	require.Equal(t, time.Minute, New(nil, Options{Limit: time.Minute}).limit(ToolPre))
}

func TestWordsOfAHookAreCutAndClean(t *testing.T) {
	_, said, err := sh(t, TurnEnd, `printf '\377'; printf 'a\377' >&2; head -c 10000 /dev/zero | tr '\0' x >&2`, Options{}).Run(t.Context(), Input{Point: TurnEnd})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(said, "a\uFFFDxx"))
	require.Less(t, len(said), errorLimit+8)
}
