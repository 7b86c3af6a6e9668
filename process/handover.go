package process

import (
	"fmt"
	"os"

	"jp/conversation"
	"jp/internal/safefile"
)

// File is the open file of a lock, for a new process that is to go on holding it. The caller releases its own
// as ever: a shared lock is held until the last holder releases it.
func (l *Lock) File() *os.File {
	l.handed = true
	return l.file
}

// TakeOver takes over a lock that the starter of this process handed to it, as an open file. It proves that
// the lock was never free: the file is the conversation's, it is held, and this file holds it. Otherwise it
// fails, and closes the file.
func (l Locks) TakeOver(id conversation.ID, handed *os.File, holder Holder) (*Lock, error) {
	err := l.checkHandedLock(id, handed)
	if err == nil {
		err = writeHolder(handed, holder)
	}
	if err != nil {
		handed.Close()
		return nil, fmt.Errorf("take over the lock of %s: %w", id, err)
	}
	return &Lock{file: handed}, nil
}

func (l Locks) checkHandedLock(id conversation.ID, handed *os.File) error {
	want, err := os.Stat(l.path(id))
	if err != nil {
		return err
	}
	if is, err := handed.Stat(); err != nil || !os.SameFile(is, want) {
		return fmt.Errorf("%w: this file is not its lock", ErrLocked)
	}
	if _, held := l.Held(id); !held {
		return fmt.Errorf("%w no more: it was let go of", ErrLocked)
	}
	if err := safefile.TryLock(handed); err != nil {
		return fmt.Errorf("%w by another process", ErrLocked)
	}
	return nil
}
