package powercut_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/gitstore/odb"
	"jp/internal/testing/crashtest/row"
	"jp/proof/powercut"
)

// shutdowns are the file systems that can be told to stop at once.
var shutdowns = []target{
	{fs: powercut.Ext4, path: odb.PathOrdered},
	{fs: powercut.XFS, path: odb.PathOrdered},
}

func TestShutdown(t *testing.T) {
	var o *oracle
	for _, p := range shutdowns {
		name := fmt.Sprintf("%v, SHUTDOWN ioctl", p)
		why := lacks(t, p.fs)
		if o == nil && why == "" {
			o = newOracle(t, 60)
		}
		t.Run(p.fs.Name, func(t *testing.T) {
			if why != "" {
				// Only root may shut a file system down, on a loop device.
				row.Skip(t, "c", name, why)
			}
			l := newLoop(t, p, o)
			result := row.Row{Class: "c", Name: name, Points: row.Of(3, 6, 30)}
			for range result.Points {
				if problems := l.stop(careful); len(problems) > 0 {
					result.Violations++
					t.Errorf("%q", problems)
				}
			}
			result.Note = l.controls(row.Of(3, 4, 10))
			row.Log(t, result)
		})
	}
}

// xfs reports a directory as flushed when it has dropped all changes to it; the store must not pass that
// on.
func TestFlushBehindShutdown(t *testing.T) {
	for _, p := range shutdowns {
		t.Run(p.fs.Name, func(t *testing.T) {
			if why := lacks(t, p.fs); why != "" {
				// Only root may shut a file system down, on a loop device.
				t.Skip("a shutdown cannot be tried: " + why)
			}
			l := newLoop(t, p, nil)
			dir, err := odb.OS().OpenDir(l.dir)
			require.NoError(t, err)
			defer dir.Close()
			require.NoError(t, dir.Mkdir("before"))
			require.NoError(t, dir.Sync())
			require.NoError(t, dir.Mkdir("lost"))
			require.NoError(t, powercut.Shutdown(l.dir))
			require.Error(t, dir.Sync())
		})
	}
}

// A loop is a file system in a file in memory, on a disk that keeps all that it
// was given.
type loop struct {
	*testing.T
	target
	oracle *oracle
	device *powercut.Device
	dir    string
	rng    *rand.Rand
	rounds int
}

func newLoop(t *testing.T, p target, o *oracle) *loop {
	t.Helper()
	memory := t.TempDir()
	require.NoError(t, unix.Mount("powercut", memory, "tmpfs", 0, "size=400m"))
	t.Cleanup(func() { p.fs.Drop(memory) })
	file := filepath.Join(memory, "disk")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, p.fs.Size))
	device, err := powercut.Attach(file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, device.Close()) })
	require.NoError(t, p.fs.Format(device.Path))
	l := &loop{T: t, target: p, oracle: o, device: device, dir: t.TempDir(), rng: rand.New(rand.NewPCG(scriptSeed, 2))}
	require.NoError(t, p.fs.Mount(device, l.dir))
	t.Cleanup(func() { p.fs.Drop(l.dir) })
	return l
}

// controls are shutdowns under workers of less care, as they are for power cuts.
func (l *loop) controls(n int) (note string) {
	l.Helper()
	broken, example := 0, ""
	for range n {
		if problems := l.stop(undurable); len(problems) > 0 {
			broken++
			example = fmt.Sprintf("%q", problems)
		}
	}
	require.Positive(l, broken, "%d shutdowns under a worker %s broke nothing: this fixture sees nothing", n, undurable)
	l.Logf("%s, for example %.300s", undurable, example)
	return fmt.Sprintf("control: %d of %d broken %s, as must be", broken, n, undurable)
}

// stop runs a worker in a repository of its own, stops the file system at a random moment, mounts it anew,
// and returns the faults.
func (l *loop) stop(c care) []string {
	l.Helper()
	l.rounds++
	repo := fmt.Sprint("repo", l.rounds)
	install(l.T, l.oracle.repo, l.dir, repo)
	numbers, marks, err := os.Pipe()
	require.NoError(l, err)
	defer numbers.Close()
	worker := l.job(l.dir, repo, c, l.oracle).start(l.T, "/dev/fd/3", marks)
	require.NoError(l, marks.Close())
	acknowledged, lines := 0, bufio.NewScanner(numbers)
	for last := 1 + l.rng.IntN(l.oracle.steps/2); acknowledged < last && lines.Scan(); {
		acknowledged++
	}
	require.Positive(l, acknowledged, "the worker: %v", worker.Stderr)
	<-time.After(time.Duration(l.rng.IntN(2000)) * time.Microsecond) // anywhere in the next steps
	require.NoError(l, powercut.Shutdown(l.dir))
	for lines.Scan() {
		acknowledged++
	}
	_ = worker.Wait() // every call of it fails since the shutdown
	l.remount()
	defer os.RemoveAll(filepath.Join(l.dir, repo)) // the disk is small
	return inspection{l.T, l.oracle, filepath.Join(l.dir, repo)}.problems(acknowledged)
}

func (l *loop) remount() {
	l.Helper()
	require.NoError(l, l.fs.Unmount(l.device, l.dir))
	require.NoError(l, l.fs.Mount(l.device, l.dir))
}
