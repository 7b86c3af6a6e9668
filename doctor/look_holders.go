package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/process"
)

// answersWithin is how long a process has to say hello.
const answersWithin = 500 * time.Millisecond

// lookAtHolders finds out who holds conversations, and which tools live on
// without their jp.
func (c *checkup) lookAtHolders(ctx context.Context) []Finding {
	entries, _ := os.ReadDir(c.repo.Locks.Dir) // no folder, no locks
	held := map[conversation.ID]process.Holder{}
	var tools []Tool
	for _, e := range entries {
		if id, seq, ok := process.ToolRun(e.Name()); ok && c.repo.Locks.ToolAlive(id, seq) {
			tools = append(tools, Tool{ID: id, Seq: seq})
		}
		stem, isLock := strings.CutSuffix(e.Name(), ".lock")
		id, err := conversation.ParseID(stem)
		if !isLock || err != nil {
			continue
		}
		if holder, is := c.repo.Locks.Held(id); is {
			held[id] = holder
		}
	}
	outlived := tools[:0]
	for _, t := range tools {
		if _, is := c.repo.Locks.Held(t.ID); !is && c.repo.Locks.ToolAlive(t.ID, t.Seq) {
			outlived = append(outlived, t)
		}
	}
	all := append(Holders(c.holders(ctx, held)), Tools(outlived)...)
	return append(all, treeLock(c.repo.GitDir).Findings()...)
}

// treeLock looks at the lock of those who change files. It leaves the file as it is.
func treeLock(gitDir string) TreeLock {
	l := TreeLock{Path: filepath.Join(gitDir, safefile.StateDirName, "mutation.lock")}
	f, err := os.OpenFile(l.Path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return l
	}
	l.Held = errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
	info, err := f.Stat()
	f.Close()
	if l.Held && err == nil {
		by, _ := process.Openers([]os.FileInfo{info})
		l.PIDs = by[0]
	}
	return l
}

// holders asks all of them at once whether they can be reached.
func (c *checkup) holders(ctx context.Context, held map[conversation.ID]process.Holder) []Holder {
	holders := make([]Holder, 0, len(held))
	var mu sync.Mutex
	var asking sync.WaitGroup
	for id, holder := range held {
		asking.Go(func() {
			h := Holder{ID: id, PID: holder.PID, Ended: ended(holder), Err: c.reaches(ctx, id)}
			if !holder.Started.IsZero() {
				h.For = max(c.env.Now().Sub(holder.Started), time.Second)
			}
			mu.Lock()
			defer mu.Unlock()
			holders = append(holders, h)
		})
	}
	asking.Wait()
	return SortHolders(holders)
}

// reaches returns why the process that holds a conversation cannot be reached, or nil.
// A hello attaches to nothing.
func (c *checkup) reaches(ctx context.Context, id conversation.ID) error {
	registry, ok := c.repo.States().ToldRegistry()
	if !ok {
		return errors.New("it has told nothing of itself")
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	if c.repo.Store != nil {
		id = c.repo.States().AskedIn(ctx, id)
	}
	client, err := repo.Dial(ctx, registry, id)
	if client != nil {
		client.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it has no socket here")
	}
	return err
}

// ended reports whether the process that took a lock is gone.
func ended(h process.Holder) bool {
	if h.PID <= 0 {
		return false
	}
	if start := process.StartOf(h.PID); h.Start != "" && start != "" {
		return start != h.Start
	}
	return errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
}

// stale are the entries of the registry whose processes have ended. It removes
// nothing; what cannot be read is in the error.
func (c *checkup) stale() (entries []Entry, errs []error) {
	registry, ok := c.repo.States().ToldRegistry()
	if !ok {
		return nil, nil
	}
	files, err := os.ReadDir(registry.Folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []error{err}
	}
	for _, file := range files {
		stem, isEntry := strings.CutSuffix(file.Name(), ".json")
		id, err := conversation.ParseID(stem)
		if !isEntry || err != nil {
			continue
		}
		entry, err := registry.Get(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its process ended
		case errors.Is(err, process.ErrNotOurs):
			return entries, []error{err} // the folder is not, and so nothing in it
		case err != nil:
			errs = append(errs, err)
		default:
			if _, held := process.LocksIn(entry.Repository).Held(id); !held {
				entries = append(entries, Entry{ID: id, Age: ageOf(filepath.Join(registry.Folder(), file.Name()))})
			}
		}
	}
	return entries, errs
}

// ageOf is how long ago a file was written.
func ageOf(path string) time.Duration {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return time.Since(info.ModTime())
}
