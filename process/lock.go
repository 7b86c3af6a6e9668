package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/internal/safefile"
)

// A Holder is who holds a lock, for people to read.
type Holder struct {
	PID      int       `json:"pid"`
	Start    string    `json:"start,omitempty"` // when the process began, as StartOf tells it
	Started  time.Time `json:"started"`
	Session  string    `json:"session,omitempty"`
	Detached bool      `json:"detached,omitempty"` // without a terminal
}

// Name names the holder to people. The holder may not have written its details yet.
func (h Holder) Name() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("pid %d", h.PID)
}

// same reports whether both are one holding by one process.
func (h Holder) same(other Holder) bool {
	return h.PID == other.PID && h.Start == other.Start && h.Started.Equal(other.Started)
}

// A Lock is the right to write to a conversation. It is held until Release, or
// until the last process that has the file open is gone.
type Lock struct {
	file   *os.File
	handed bool // another process may share the file
}

// Locks are the lock files of one repository.
type Locks struct {
	Dir string
	// Share is told of new files, so that other users of the repository can hold its locks too. Nil leaves
	// modes to the umask.
	Share safefile.Share

	common string // the git directory that Dir is a folder of jp's in; "": Dir is any folder
}

// LocksIn are the locks of the repository with this common git directory.
func LocksIn(commonDir string) Locks {
	return Locks{Dir: filepath.Join(commonDir, safefile.StateDirName, locksFolder), common: commonDir}
}

const locksFolder = "locks"

func (l Locks) path(id conversation.ID) string { return filepath.Join(l.Dir, string(id)+lockSuffix) }

const lockSuffix = ".lock"

// Take takes the conversation's lock at once, or fails with a *LockedError.
func (l Locks) Take(id conversation.ID, holder Holder) (*Lock, error) {
	f, err := l.open(l.path(id))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", id, err)
	}
	if err := l.takeAlone(f); err != nil {
		held := readHolder(f)
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &LockedError{ID: id, Holder: held}
		}
		return nil, fmt.Errorf("lock %s: %w", id, err)
	}
	l.noteTaken()
	return &Lock{file: f}, writeHolder(f, holder)
}

// takeAlone takes the lock, unless another process holds it. Who only looks whether it is
// held has a share in it for a moment, and is waited for.
func (l Locks) takeAlone(f *os.File) error {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer l.alone()()
		err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	}
	return err
}

// alone keeps all others from looking at locks, until done is called.
func (l Locks) alone() (done func()) {
	done, err := l.exclude()
	if err != nil {
		return func() {}
	}
	return done
}

// exclude is alone, with an error if it cannot have the lock.
func (l Locks) exclude() (done func(), err error) {
	dir, err := os.Open(l.Dir)
	if err != nil {
		return nil, err
	}
	if err := flock(dir, unix.LOCK_EX); err != nil {
		dir.Close()
		return nil, err
	}
	return func() { unlock(dir) }, nil
}

// Wait takes the lock as soon as it is free.
func (l Locks) Wait(ctx context.Context, id conversation.ID, holder Holder) (*Lock, error) {
	for {
		lock, err := l.Take(id, holder)
		if !errors.Is(err, ErrLocked) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Held reports whether a process holds the conversation, and which.
func (l Locks) Held(id conversation.ID) (Holder, bool) {
	f, err := openLock(l.path(id))
	if err != nil {
		return Holder{}, false
	}
	defer l.alone()()
	defer unlock(f)
	if flock(f, unix.LOCK_SH|unix.LOCK_NB) == nil {
		return Holder{}, false
	}
	return readHolder(f), true
}

// Release gives the lock up. The file stays: another process may be waiting on
// it. A lock that was handed on stays with the process that has it.
func (l *Lock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	if !l.handed { // as unlock does
		_ = flock(l.file, unix.LOCK_UN)
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Tool makes and takes the lock that the processes of one tool run inherit. It is held while any of them
// lives; done removes it, so that processes that a finished tool left do not block others. place, if any, is
// noted in it: the working tree in which the tool works.
func (l Locks) Tool(id conversation.ID, seq int, place string) (f *os.File, done func(), err error) {
	path := l.toolPath(id, seq)
	if f, err = l.open(path); err != nil {
		return nil, nil, err
	}
	if err := l.takeAlone(f); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%w: %s", ErrToolAlive, path)
	}
	if place != "" {
		if _, err := f.WriteString(place); err != nil {
			f.Close()
			return nil, nil, fmt.Errorf("note where a tool works: %w", err)
		}
	}
	return f, func() {
		_ = l.remove(filepath.Base(path)) // one that stays is free
		f.Close()
	}, nil
}

// ToolAlive reports whether a tool run of an earlier process still lives.
func (l Locks) ToolAlive(id conversation.ID, seq int) bool {
	f, err := openLock(l.toolPath(id, seq))
	if err != nil {
		return false
	}
	defer l.alone()()
	defer unlock(f)
	return flock(f, unix.LOCK_SH|unix.LOCK_NB) != nil
}

// openLock opens a lock file to look at it. It never waits, even for another kind of file at its path.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%w: %s is not a file", os.ErrNotExist, path)
	}
	return f, nil
}

func (l Locks) toolPath(id conversation.ID, seq int) string {
	return filepath.Join(l.Dir, fmt.Sprintf("%s.%d", id, seq))
}

func (l Locks) place() safefile.StateDir { return safefile.StateDir{GitDir: l.common, Share: l.Share} }

func (l Locks) remove(name string) error {
	if l.common != "" {
		return l.place().Remove(locksFolder, name)
	}
	return os.Remove(filepath.Join(l.Dir, name))
}

// open opens a lock file, and makes it and its folder if they are missing.
func (l Locks) open(path string) (*os.File, error) {
	if l.common != "" {
		dir, err := l.place().Open(locksFolder)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return dir.OpenShared(filepath.Base(path), 0o666)
	}
	if err := safefile.MakeFolders(l.Dir, 0o777, l.Share); err != nil {
		return nil, err
	}
	return safefile.OpenShared(path, 0o666, l.Share)
}

func readHolder(f *os.File) Holder {
	var h Holder
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err == nil {
		_ = json.Unmarshal(text, &h) // for people only; a torn one is ignored
	}
	return h
}

func writeHolder(f *os.File, h Holder) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), 0)
	return err
}
