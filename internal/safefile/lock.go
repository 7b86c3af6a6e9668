package safefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("another process holds the lock")

// Lock locks an open file for this process, and waits for the process that holds the lock until ctx ends. [Unlock]
// unlocks it, and so does the end of the process. The lock's file must stay: two processes could lock two files of one name.
func Lock(ctx context.Context, f *os.File) error {
	if ctx.Done() == nil {
		return flock(f, unix.LOCK_EX)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) { // ctx could not end a blocking call
		if err := TryLock(f); !errors.Is(err, ErrLocked) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// TryLock is [Lock] without the wait: it fails with ErrLocked.
func TryLock(f *os.File) error { return flock(f, unix.LOCK_EX|unix.LOCK_NB) }

// TryShare locks an open file together with others that share it. It fails with ErrLocked if a process has it for itself.
func TryShare(f *os.File) error { return flock(f, unix.LOCK_SH|unix.LOCK_NB) }

// Unlock unlocks and closes a file. To close it alone would keep the lock for a moment: a program that another goroutine is
// just starting shares the open file until it has become that program.
func Unlock(f *os.File) {
	_ = flock(f, unix.LOCK_UN)
	_ = f.Close()
}

func flock(f *os.File, how int) error {
	for {
		switch err := unix.Flock(int(f.Fd()), how); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case err != nil:
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		default:
			return nil
		}
	}
}

// LockFile opens a file, makes it if it is missing, and locks it.
func LockFile(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := Lock(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { Unlock(f) }, nil
}
