package powercut_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

// A care is how much the worker does for durability.
type care string

const (
	careful   care = "careful" // as jp does by itself
	waitless  care = "without waiting for data"
	undurable care = "with durability off"
	unflushed care = "without waiting for files" // that are recorded; for events it does
)

type job struct {
	Repo  string
	Noise string // the folder in which others write, on the same disk; "" for none
	Path  odb.Path
	Care  care
	Seed  uint64
	Steps int
	Files bool // each step changes files and records them, in place of the script's
}

// start runs a job in a process of its own, which dies with this thread. It
// writes the number of each acknowledged step to a file outside of the disk, and
// may inherit that.
func (j job) start(t *testing.T, marks string, inherited ...*os.File) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, string(text), marks)
	cmd.Env = append(gitenv.Env(t.TempDir()), roleVariable+"="+workerRole)
	cmd.Stderr, cmd.ExtraFiles = &strings.Builder{}, inherited
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	return cmd
}

// work is the worker: it plays the script, and says so after each step.
func work(args []string) error {
	var j job
	if err := json.Unmarshal([]byte(args[0]), &j); err != nil {
		return err
	}
	marks, err := os.OpenFile(args[1], os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer marks.Close()
	if err := j.checkPath(); err != nil {
		return err
	}
	store, err := openStore(j.Repo, j.options())
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if j.Noise != "" {
		go noise(ctx, j.Noise, j.Seed)
	}
	if j.Files {
		return j.shoot(ctx, store, func(step int, _ string) error {
			_, err := fmt.Fprintln(marks, step)
			return err
		})
	}
	p := player{store: store, heads: map[conversation.ID]conversation.Head{}}
	for i, s := range script(j.Seed, j.Steps) {
		if err := p.play(ctx, s); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if _, err := fmt.Fprintln(marks, i+1); err != nil {
			return err
		}
	}
	return nil
}

func (j job) options() gitstore.Options {
	switch j.Care {
	case waitless:
		return gitstore.Options{FS: noFsyncFS{odb.OS()}}
	case undurable:
		return gitstore.Options{Durability: odb.Off}
	}
	return gitstore.Options{}
}

// checkPath keeps a row from trying another write path than it says.
func (j job) checkPath() error {
	db, err := odb.Open(filepath.Join(j.Repo, ".git"), odb.Options{FS: j.options().FS})
	if err != nil {
		return err
	}
	defer db.Close()
	if db.Path() != j.Path {
		return fmt.Errorf("the store writes by the %s path, not by the %s one", db.Path(), j.Path)
	}
	return nil
}

// noise is everybody else on the disk: small files, and a flush now and then, which commits all of the
// worker's pending data.
func noise(ctx context.Context, dir string, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for ctx.Err() == nil {
		for range rng.IntN(60) {
			if write(filepath.Join(dir, fmt.Sprint(rng.IntN(40))), make([]byte, rng.IntN(6000)), false) != nil {
				return
			}
		}
		if write(filepath.Join(dir, "flushed"), make([]byte, rng.IntN(6000)), true) != nil {
			return
		}
	}
}

// write writes a file anew, and flushes it if told so.
func write(path string, data []byte, flush bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil || !flush {
		return err
	}
	return f.Sync()
}
