package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Timestamp is a moment as the working tree's file system counts it. A later write has an equal or later
// change time. A clock would be wrong: it runs ahead of the times that the kernel gives to files.
type Timestamp struct {
	Sec  int64 `json:"sec"`
	Nsec int64 `json:"nsec"`
}

func (m Timestamp) before(o Timestamp) bool {
	return m.Sec < o.Sec || m.Sec == o.Sec && m.Nsec < o.Nsec
}

// Nanoseconds counts them since the epoch.
func (m Timestamp) Nanoseconds() int64 { return m.Sec*1e9 + m.Nsec }

// clockLead is the time by which the clock may run ahead of the times that the kernel
// gives to files: more than one tick of the slowest timer in use.
const clockLead = 20 * time.Millisecond

// MarkAt is a mark at or before a moment of this machine's clock, for want of a recorded one.
func MarkAt(t time.Time) Timestamp {
	t = t.Add(-clockLead)
	return Timestamp{Sec: t.Unix(), Nsec: int64(t.Nanosecond())}
}

// Now marks the moment before a tool starts.
func (w *Worktree) Now(_ context.Context) (Timestamp, error) {
	dir, err := w.probeDir()
	if err != nil {
		return Timestamp{}, fmt.Errorf("mark: %w", err)
	}
	f, err := os.CreateTemp(dir, ".jp-mark-*")
	if err != nil {
		return Timestamp{}, fmt.Errorf("mark: %w", err)
	}
	var st unix.Stat_t
	err = errors.Join(unix.Fstat(int(f.Fd()), &st), os.Remove(f.Name()), f.Close())
	if err != nil {
		return Timestamp{}, fmt.Errorf("mark: %w", err)
	}
	return changed(&st), nil
}

// probeDir is a folder in the working tree's file system, best one that the user does not see.
func (w *Worktree) probeDir() (string, error) {
	dir := w.state("")
	if err := w.makeState(); err != nil {
		return "", err
	}
	var ours, top unix.Stat_t
	if err := errors.Join(unix.Lstat(dir, &ours), unix.Lstat(w.repo.TopLevel, &top)); err != nil {
		return "", err
	}
	if ours.Dev != top.Dev {
		return w.repo.TopLevel, nil
	}
	return dir, nil
}

// Older reports whether there is a file at a path, unwritten since a mark.
func (w *Worktree) Older(path string, than Timestamp) bool {
	st, err := w.lookup(path)
	return err == nil && changed(st).before(than)
}

// changed is the time of the last change to a file, its name or its attributes; unlike the modification
// time, it cannot be set by programs.
func changed(st *unix.Stat_t) Timestamp {
	return Timestamp{Sec: int64(st.Ctim.Sec), Nsec: int64(st.Ctim.Nsec)}
}

// modified is the time of the last change to a file's content.
func modified(st *unix.Stat_t) Timestamp {
	return Timestamp{Sec: int64(st.Mtim.Sec), Nsec: int64(st.Mtim.Nsec)}
}
