package process_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/process"
)

const id = conversation.ID("jp-c17528832001-k3f9")

func holder() process.Holder {
	return process.Holder{PID: os.Getpid(), Started: time.Unix(1795255440, 0).UTC(), Session: "test"}
}

func locks(t *testing.T) process.Locks { return process.LocksIn(t.TempDir()) }

func TestOneHolder(t *testing.T) {
	l := locks(t)
	_, held := l.Held(id)
	require.False(t, held, "nobody has ever held it")
	first, err := l.Take(id, holder())
	require.NoError(t, err)

	_, err = l.Take(id, holder())
	var locked *process.LockedError
	require.ErrorAs(t, err, &locked)
	require.ErrorIs(t, err, process.ErrLocked)
	require.Equal(t, holder(), locked.Holder)
	require.ErrorContains(t, err, string(id))
	who, held := l.Held(id)
	require.True(t, held)
	require.Equal(t, holder(), who)

	require.NoError(t, first.Release())
	require.NoError(t, first.Release(), "releasing twice does nothing")
	_, held = l.Held(id)
	require.False(t, held)
	again, err := l.Take(id, holder())
	require.NoError(t, err)
	require.NoError(t, again.Release())
	require.FileExists(t, filepath.Join(l.Dir, string(id)+".lock"), "the file is never removed: somebody may wait on it")
}

// A holder with a shorter text leaves no rest of the longer one before.
func TestAHolderFollowsALongerOne(t *testing.T) {
	l := locks(t)
	long, short := holder(), holder()
	long.Session = strings.Repeat("long ", 100)
	for _, h := range []process.Holder{long, short} {
		lock, err := l.Take(id, h)
		require.NoError(t, err)
		who, held := l.Held(id)
		require.True(t, held)
		require.Equal(t, h, who)
		require.NoError(t, lock.Release())
	}
}

func TestConversationsDoNotLockEachOther(t *testing.T) {
	l := locks(t)
	a, err := l.Take(id, holder())
	require.NoError(t, err)
	defer a.Release()
	b, err := l.Take("jp-c17528832002-aaaa", holder())
	require.NoError(t, err)
	require.NoError(t, b.Release())
}

func TestWait(t *testing.T) {
	l := locks(t)
	first, err := l.Take(id, holder())
	require.NoError(t, err)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("left"))
	_, err = l.Wait(ctx, id, holder())
	require.ErrorContains(t, err, "left")

	got := make(chan error, 1)
	go func() {
		second, err := l.Wait(t.Context(), id, holder())
		if err == nil {
			err = second.Release()
		}
		got <- err
	}()
	require.NoError(t, first.Release())
	require.NoError(t, <-got)
}

func TestNeverTwoHolders(t *testing.T) {
	l := locks(t)
	var inside atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				lock, err := l.Take(id, holder())
				if err != nil {
					continue
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				inside.Add(-1)
				lock.Release()
			}
		})
	}
	wg.Wait()
}

// A killed holder releases its lock. The test runs itself as the holder.
func TestKilledHolder(t *testing.T) {
	if dir := os.Getenv("PROCESS_TEST_HOLD"); dir != "" {
		if _, err := (process.Locks{Dir: dir}).Take(id, holder()); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("held\n")
		// It waits until it is killed. A select without cases would end it as a deadlock.
		time.Sleep(time.Hour)
	}
	l := locks(t)
	child := exec.Command(os.Args[0], "-test.run", "^TestKilledHolder$")
	child.Env = append(os.Environ(), "PROCESS_TEST_HOLD="+l.Dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = out.Read(make([]byte, 5))
	require.NoError(t, err)
	who, held := l.Held(id)
	require.True(t, held)
	require.Equal(t, child.Process.Pid, who.PID)
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	_, held = l.Held(id)
	require.False(t, held)
}

func TestToolLock(t *testing.T) {
	l := locks(t)
	require.False(t, l.ToolAlive(id, 7))
	f, done, err := l.Tool(id, 7, "")
	require.NoError(t, err)
	require.True(t, l.ToolAlive(id, 7))
	_, _, err = l.Tool(id, 7, "")
	require.ErrorIs(t, err, process.ErrToolAlive)

	// A process of the tool that outlives jp holds it.
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	require.NoError(t, err)
	child.ExtraFiles = []*os.File{f}
	require.NoError(t, child.Start())
	require.NoError(t, f.Close())
	require.True(t, l.ToolAlive(id, 7))
	require.NoError(t, in.Close())
	require.NoError(t, child.Wait())
	require.False(t, l.ToolAlive(id, 7))

	// the left processes of a finished tool do not block
	done()
	require.NoFileExists(t, filepath.Join(l.Dir, string(id)+".7"))
}

func TestTornHolder(t *testing.T) {
	l := locks(t)
	lock, err := l.Take(id, holder())
	require.NoError(t, err)
	defer lock.Release()
	require.NoError(t, os.WriteFile(filepath.Join(l.Dir, string(id)+".lock"), []byte(`{"pid":`), 0o600))
	_, held := l.Held(id)
	require.True(t, held, "the body is for people; the lock is what counts")
}

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "jp"), nil, 0o600))
	_, err := process.LocksIn(dir).Take(id, holder())
	require.Error(t, err)
	require.NotErrorIs(t, err, process.ErrLocked)
}

// TestLookingTakesNothing has others look at a lock all the time: taking it still succeeds.
func TestLookingTakesNothing(t *testing.T) {
	l := locks(t)
	first, err := l.Take(id, holder())
	require.NoError(t, err)
	require.NoError(t, first.Release())
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for ctx.Err() == nil {
				l.Held(id)
			}
		})
	}
	for range 2000 {
		lock, err := l.Take(id, holder())
		if err != nil || lock.Release() != nil {
			t.Errorf("take: %v", err)
			break
		}
	}
	cancel()
	wg.Wait()
}

// A tool that works elsewhere, or whose jp knows of it, is not orphaned.
func TestOutlived(t *testing.T) {
	l := locks(t)
	other := conversation.ID(string(id[:len(id)-1]) + "7")
	require.NotEqual(t, id, other)
	require.Empty(t, l.OrphanedTools("here"))
	_, done, err := l.Tool(id, 7, "here")
	require.NoError(t, err)
	require.Equal(t, []conversation.ID{id}, l.OrphanedTools("here"))
	require.Empty(t, l.OrphanedTools("there"))
	require.Equal(t, []conversation.ID{id}, l.OrphanedTools(""))
	_, second, err := l.Tool(id, 9, "here")
	require.NoError(t, err)
	_, nowhere, err := l.Tool(other, 7, "")
	require.NoError(t, err)
	require.ElementsMatch(t, []conversation.ID{id, other}, l.OrphanedTools("here"))
	nowhere()
	lock, err := l.Take(id, process.Holder{})
	require.NoError(t, err)
	require.Empty(t, l.OrphanedTools("here"), "its jp lives")
	require.True(t, l.Working(id))
	require.False(t, l.Working(other))
	require.NoError(t, lock.Release())
	done()
	second()
	require.Empty(t, l.OrphanedTools("here"))
}

// Another kind of file at the path of a lock never makes a process wait.
func TestALockThatIsNone(t *testing.T) {
	l := locks(t)
	_, done, err := l.Tool(id, 7, "here") // makes the folder
	require.NoError(t, err)
	done()
	require.NoError(t, unix.Mkfifo(filepath.Join(l.Dir, string(id)+".7"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(l.Dir, string(id)+".8"), 0o700))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(l.Dir, string(id)+".9")))
	require.NoError(t, unix.Mkfifo(filepath.Join(l.Dir, string(id)+".lock"), 0o600))
	require.False(t, l.ToolAlive(id, 7))
	require.Empty(t, l.OrphanedTools("here"))
	require.False(t, l.Working(id))
	_, held := l.Held(id)
	require.False(t, held)
}
