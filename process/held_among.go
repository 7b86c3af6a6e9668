package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// settled is how old a time of the folder has to be so that a later change gives it another one.
const settled = 2 * time.Second

// LastTaken is the time at which a process last took a lock of this repository. If it is the same as before,
// no process has taken another one since. It is the zero time if that was less than two seconds ago, since a
// lock taken now may give the folder the same time.
func (l Locks) LastTaken() time.Time {
	info, err := os.Stat(l.Dir)
	if err != nil || time.Since(info.ModTime()) < settled {
		return time.Time{}
	}
	return info.ModTime()
}

// noteTaken updates [Locks.LastTaken]. Making a lock file has the same effect.
func (l Locks) noteTaken() { _ = unix.Utimes(l.Dir, nil) }

// HeldAmong are those of the conversations that a process holds. It looks at all of them in one
// go, for which others who take a lock may have to wait a moment.
func (l Locks) HeldAmong(ids []conversation.ID) (held []conversation.ID) {
	dir, err := os.Open(l.Dir)
	if err != nil {
		return nil // there are no locks
	}
	defer dir.Close()
	defer l.alone()()
	for _, id := range ids {
		if heldIn(int(dir.Fd()), string(id)+lockSuffix) {
			held = append(held, id)
		}
	}
	return held
}

// heldIn is [Locks.Held] without the holder.
func heldIn(dir int, name string) bool {
	fd, err := -1, error(unix.EINTR)
	for err == unix.EINTR {
		fd, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	err = lockFile(fd, unix.LOCK_SH|unix.LOCK_NB)
	_ = lockFile(fd, unix.LOCK_UN) // see unlock
	return err == unix.EWOULDBLOCK
}
