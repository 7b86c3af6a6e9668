package process_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/process"
)

// While a stale entry is being removed, its conversation cannot be taken. The test stops the removal halfway,
// and looks.
func TestNobodyTakesWhatIsBeingRemoved(t *testing.T) {
	r := registry(t)
	l := process.LocksIn(r.Repository)
	require.NoError(t, hold(t, r, id).Release())
	folder := openAlone(t, r.Folder())
	looking, err := os.Open(l.Dir)
	require.NoError(t, err)
	defer looking.Close()
	swept := make(chan error, 1)
	go func() {
		_, err := r.Live(t.Context())
		swept <- err
	}()
	shared := func() bool {
		if unix.Flock(int(looking.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
			return false
		}
		return unix.Flock(int(looking.Fd()), unix.LOCK_UN) == nil
	}
	require.Eventually(t, func() bool { return !shared() }, 10*time.Second, time.Millisecond, "the removal keeps nobody out")
	for range 10_000 {
		require.False(t, shared(), "the removal cannot be over")
	}
	lock, err := os.OpenFile(filepath.Join(l.Dir, string(id)+".lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close()
	require.ErrorIs(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
	require.NoError(t, folder.Close())
	require.NoError(t, <-swept)
	require.Empty(t, names(t, r))
	hold(t, r, id)
	require.Equal(t, []conversation.ID{id}, live(t, r))
}

// openAlone opens a folder and keeps others from changing it.
func openAlone(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	return f
}

// TestSweepingRemovesNoLiveEntry has processes come, register and go, some of
// them without a word, while this and another process sweep.
func TestSweepingRemovesNoLiveEntry(t *testing.T) {
	if dir := os.Getenv("PROCESS_TEST_SWEEP"); dir != "" {
		sweep(t, dir)
		return
	}
	r := registry(t)
	ctx, cancel := context.WithCancel(t.Context())
	sweeper := startSweeper(t, r)
	var sweeping, running sync.WaitGroup
	for range 2 {
		sweeping.Go(func() {
			for ctx.Err() == nil {
				if _, err := r.Live(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range 3 {
		running.Go(func() {
			for round := range 60 {
				if err := comeAndGo(r, conversation.ID(fmt.Sprintf("jp-c1752883200%d-aaaa", n)), round); err != nil {
					t.Errorf("round %d: %v", round, err)
					return
				}
			}
		})
	}
	running.Wait()
	cancel()
	sweeping.Wait()
	require.NoError(t, sweeper.Close())
	require.Empty(t, live(t, r))
}

// comeAndGo is the life of one process.
func comeAndGo(r process.Registry, id conversation.ID, round int) error {
	lock, err := process.LocksIn(r.Repository).Take(id, holder())
	if err != nil {
		return err
	}
	defer lock.Release()
	e := entry()
	e.ConversationID, e.Log = id, fmt.Sprintf("/%d", round)
	if err := r.Put(e); err != nil {
		return err
	}
	for range 5 {
		got, err := r.Get(id)
		if err != nil {
			return err
		}
		if got.Log != e.Log {
			return fmt.Errorf("round %s is registered", got.Log)
		}
	}
	if round%2 == 0 {
		return nil
	}
	return r.Remove(id)
}

// startSweeper has this test run again as a process that only sweeps, until it is closed.
func startSweeper(t *testing.T, r process.Registry) io.Closer {
	child := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), "PROCESS_TEST_SWEEP="+r.DataDir, "PROCESS_TEST_REPOSITORY="+r.Repository)
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return closer(func() error {
		in.Close()
		return child.Wait()
	})
}

type closer func() error

func (c closer) Close() error { return c() }

// sweep is that process.
func sweep(t *testing.T, dataDir string) {
	r := process.Registry{DataDir: dataDir, Workspace: "abcde", Repository: os.Getenv("PROCESS_TEST_REPOSITORY")}
	closed := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(closed)
	}()
	os.Stdout.WriteString("sweeping\n")
	for {
		select {
		case <-closed:
			return
		default:
		}
		_, err := r.Live(t.Context())
		require.NoError(t, err)
	}
}
