package leftover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"jp/internal/safefile"
	"jp/process"
)

// A Remover removes files that were found.
type Remover struct {
	Place
	Locks process.Locks
	// Holder describes the holder of a conversation's lock to others.
	Holder process.Holder
	// LockTree takes the lock under which files of the working tree are changed.
	LockTree func(context.Context) (unlock func(), err error)
	// Tracked reports whether git tracks a file.
	Tracked func(ctx context.Context, path string) (bool, error)
}

// A Verdict is the fate of a file: Err is nil if it was removed.
type Verdict struct {
	File
	Err error
}

// Remove removes those of the files that provably belong to no process.
func (r Remover) Remove(ctx context.Context, files []File) []Verdict {
	verdicts := make([]Verdict, len(files))
	openers, sure := process.OpenedBy(infos(files))
	for i, f := range files {
		f.Openers = openers[i]
		verdicts[i] = Verdict{f, r.remove(ctx, f, sure)}
	}
	return verdicts
}

func (r Remover) remove(ctx context.Context, f File, sure bool) error {
	switch {
	case f.Kind == WrittenOne, f.Kind == GitLock, f.Kind == RefLock && f.Conversation == "":
		return ErrKind
	case len(f.Openers) > 0:
		return fmt.Errorf("%w by pid %d", ErrInUse, f.Openers[0])
	case !sure && f.Kind != ToolLock && f.Kind != Draft && f.Kind != Worktree: // those have locks that tell
		return ErrUnknown
	}
	unlock, err := r.lock(ctx, f)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.check(ctx, f); err != nil {
		return err
	}
	switch f.Kind {
	case Staged:
		return os.RemoveAll(f.Path)
	case Worktree:
		return ForgetWorktree(r.CommonDir, f.Path)
	}
	return os.Remove(f.Path)
}

// lock takes the lock under which a file of this kind is made.
func (r Remover) lock(ctx context.Context, f File) (unlock func(), err error) {
	switch f.Kind {
	case RefLock, ToolLock, Draft:
		lock, err := r.Locks.Take(f.Conversation, r.Holder)
		if errors.Is(err, process.ErrLocked) {
			err = fmt.Errorf("%w: %w", ErrInUse, err)
		}
		if err != nil {
			return nil, err
		}
		return func() { _ = lock.Release() }, nil // without a write
	case WorkFile, Staged:
		soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		unlock, err := r.LockTree(soon)
		if err != nil {
			return nil, fmt.Errorf("%w: a jp changes files in this working tree", ErrInUse)
		}
		return unlock, nil
	case Pack, State:
		return r.lockPacking()
	}
	return func() {}, nil // who writes an object has it open
}

// lockPacking takes the lock of who packs, if there is one.
func (r Remover) lockPacking() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(r.CommonDir, "jp", "packing.lock"), os.O_RDWR|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return func() {}, nil // jp never packed
	}
	if err != nil {
		return nil, err
	}
	if err := safefile.TryLock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: a jp packs here", ErrInUse)
	}
	return func() { safefile.Unlock(f) }, nil
}

// check looks at the file once more, now that other processes cannot change it.
func (r Remover) check(ctx context.Context, f File) error {
	info, err := os.Lstat(f.Path)
	switch {
	case err != nil:
		return err
	case !os.SameFile(info, f.info), !info.ModTime().Equal(f.info.ModTime()):
		return ErrChanged
	case r.now().Sub(info.ModTime()) < Abandoned:
		return ErrYoung
	case !owned(info):
		return ErrNotOurs
	case f.Kind == ToolLock && r.Locks.ToolAlive(f.Conversation, f.Seq):
		return fmt.Errorf("%w: its tool lives", ErrInUse)
	case f.Kind == Draft && !r.Gone(f.Conversation):
		return ErrChanged
	case f.Kind != WorkFile:
		return nil
	}
	tracked, err := r.Tracked(ctx, f.Path)
	if err == nil && tracked {
		err = ErrTracked
	}
	return err
}
