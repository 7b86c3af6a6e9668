package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// IfFree runs work if no process holds the conversation, and reports whether it did. Other processes that
// want the lock wait until work returns. So work has to be short, and must not look at locks of this
// repository itself.
func (l Locks) IfFree(id conversation.ID, work func()) (bool, error) {
	f, err := l.isProbeable(id)
	if errors.Is(err, fs.ErrNotExist) {
		work() // without a repository there is no holder
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the lock of %s: %w", id, err)
	}
	done, err := l.exclude()
	if err != nil {
		f.Close()
		return false, fmt.Errorf("look at the lock of %s: %w", id, err)
	}
	defer done()
	defer unlock(f)
	err = flock(f, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the lock of %s: %w", id, err)
	}
	work()
	return true, nil
}

// isProbeable opens the lock file. It makes a missing one, but not the repository around it, so that a
// process which takes the lock at this moment finds it taken.
func (l Locks) isProbeable(id conversation.ID) (*os.File, error) {
	f, err := os.OpenFile(l.path(id), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	return l.open(l.path(id))
}
