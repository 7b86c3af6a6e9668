package process_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/process"
)

// A runner is this test run again as a process that holds a conversation.
type runner struct{ *exec.Cmd }

func startRunner(t *testing.T, l process.Locks, how string) runner {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run", "^TestEnd$")
	child.Env = append(os.Environ(), "PROCESS_TEST_RUN="+l.Dir, "PROCESS_TEST_HOW="+how)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	t.Cleanup(func() { child.Process.Kill() })
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return runner{child}
}

// endedBy is the signal that ended the process.
func (r runner) endedBy(t *testing.T) unix.Signal {
	t.Helper()
	require.Error(t, r.Wait())
	status, ok := r.ProcessState.Sys().(interface{ Signal() unix.Signal })
	require.True(t, ok)
	return status.Signal()
}

func run(t *testing.T, dir string) {
	if os.Getenv("PROCESS_TEST_HOW") == "stubborn" {
		signal.Ignore(unix.SIGTERM)
	}
	h := holder()
	h.Start = process.StartOf(os.Getpid())
	_, err := (process.Locks{Dir: dir}).Take(id, h)
	require.NoError(t, err)
	os.Stdout.WriteString("held\n")
	// It waits until it is killed. A select without cases would end it as a deadlock.
	time.Sleep(time.Hour)
}

func TestEnd(t *testing.T) {
	if dir := os.Getenv("PROCESS_TEST_RUN"); dir != "" {
		run(t, dir)
	}
	for how, c := range map[string]struct {
		grace time.Duration
		want  unix.Signal
	}{
		"willing":  {grace: 0, want: unix.SIGTERM},
		"stubborn": {grace: time.Millisecond, want: unix.SIGKILL},
	} {
		t.Run(how, func(t *testing.T) {
			l := locks(t)
			child := startRunner(t, l, how)
			who, held := l.Held(id)
			require.True(t, held)
			require.Equal(t, child.Process.Pid, who.PID)
			// A killed process may take longer than the short grace to be gone.
			err := l.End(t.Context(), id, who, c.grace)
			for errors.Is(err, process.ErrLocked) {
				err = l.End(t.Context(), id, who, c.grace)
			}
			if !errors.Is(err, process.ErrNotHolder) { // it is gone, and its lock about to be
				require.NoError(t, err)
			}
			require.Equal(t, c.want, child.endedBy(t))
			require.NoError(t, l.End(t.Context(), id, who, c.grace), "it is ended already")
		})
	}
}

func TestEndStopsWaiting(t *testing.T) {
	l := locks(t)
	child := startRunner(t, l, "stubborn")
	who, _ := l.Held(id)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("left"))
	require.ErrorContains(t, l.End(ctx, id, who, time.Hour), "left")
	_, held := l.Held(id)
	require.True(t, held)
	require.NoError(t, child.Process.Kill())
	require.Equal(t, unix.SIGKILL, child.endedBy(t))
}

// A stranger is a process that has the number of the holder. It answers until it is signalled.
type stranger struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startStranger(t *testing.T, extra ...*os.File) stranger {
	t.Helper()
	s := stranger{Cmd: exec.Command("cat")}
	s.ExtraFiles = extra
	in, err := s.StdinPipe()
	require.NoError(t, err)
	out, err := s.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.Start())
	s.in, s.out = in, bufio.NewReader(out)
	s.answers(t)
	return s
}

func (s stranger) answers(t *testing.T) {
	t.Helper()
	_, err := s.in.Write([]byte("still here\n"))
	require.NoError(t, err)
	line, err := s.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "still here\n", line)
}

func (s stranger) leave(t *testing.T) {
	t.Helper()
	require.NoError(t, s.in.Close())
	require.NoError(t, s.Wait())
}

func TestEndLeavesStrangersAlone(t *testing.T) {
	l := locks(t)
	require.NoError(t, os.MkdirAll(l.Dir, 0o755))
	file, err := os.Create(filepath.Join(l.Dir, string(id)+".lock"))
	require.NoError(t, err)
	defer file.Close()
	with, without := startStranger(t, file), startStranger(t)
	gone := startStranger(t)
	gone.leave(t)
	start := process.StartOf(without.Process.Pid)
	require.NotEmpty(t, start)
	for name, h := range map[string]process.Holder{
		"without a start":        {PID: with.Process.Pid},
		"another start":          {PID: with.Process.Pid, Start: "1"},
		"only has the file":      {PID: with.Process.Pid, Start: process.StartOf(with.Process.Pid)},
		"without the file":       {PID: without.Process.Pid, Start: start},
		"gone":                   {PID: gone.Process.Pid, Start: start},
		"this process":           {PID: os.Getpid(), Start: process.StartOf(os.Getpid())},
		"no process":             {},
		"every process":          {PID: -1},
		"a process of the group": {PID: -with.Process.Pid, Start: start},
	} {
		t.Run(name, func(t *testing.T) {
			lock, err := l.Take(id, h)
			require.NoError(t, err)
			defer lock.Release()
			require.ErrorIs(t, l.End(t.Context(), id, h, 0), process.ErrNotHolder)
			with.answers(t)
			without.answers(t)
		})
	}
	with.leave(t)
	without.leave(t)
}

// Between a look and the end, another process may have taken the conversation.
func TestEndMeansTheHolderThatWasSeen(t *testing.T) {
	l := locks(t)
	lock, err := l.Take(id, holder())
	require.NoError(t, err)
	defer lock.Release()
	seen := holder()
	seen.Started = seen.Started.Add(-time.Second)
	err = l.End(t.Context(), id, seen, 0)
	require.ErrorIs(t, err, process.ErrNotHolder)
	require.ErrorContains(t, err, string(id))
}

// After a kill, a lock that the process passed on is an error, and the wait for it is bounded.
func TestSomethingElseHolds(t *testing.T) {
	l := locks(t)
	require.NoError(t, os.MkdirAll(l.Dir, 0o755))
	file, err := os.OpenFile(filepath.Join(l.Dir, string(id)+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	defer file.Close()
	s := startStranger(t, file)
	h := process.Holder{PID: s.Process.Pid, Start: process.StartOf(s.Process.Pid)}
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)) // both have it
	require.NoError(t, json.NewEncoder(file).Encode(h))
	err = l.End(t.Context(), id, h, time.Millisecond)
	require.ErrorIs(t, err, process.ErrLocked)
	require.ErrorContains(t, err, "something still holds")
	require.Error(t, s.Wait())
}

func TestStartOf(t *testing.T) {
	require.Regexp(t, `^[0-9]+$`, process.StartOf(os.Getpid()))
	require.Equal(t, process.StartOf(os.Getpid()), process.StartOf(os.Getpid()))
	require.Empty(t, process.StartOf(0))
	require.Empty(t, process.StartOf(-1))
}
