package leftover

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// While git makes a linked working tree, a note in jp's folder says where, and is
// locked. A git that is killed, or cannot write any more, leaves half of one, beside
// which `git fsck` and others fail. One whose note nobody holds is nobody's.

func notesDir(commonDir string) string { return filepath.Join(commonDir, "jp", "worktrees") }

// MakingWorktree notes that git is about to make a working tree in a folder, that
// is free and has an absolute path, until end. With an error nothing may be made.
func MakingWorktree(commonDir, dir string) (end func(), err error) {
	if err := os.MkdirAll(notesDir(commonDir), 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(notesDir(commonDir), rand.Text())
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	end = func() {
		_ = os.Remove(name) // one that stays says nothing of a whole working tree
		f.Close()
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = f.WriteString(dir + "\n")
	}
	if err = errors.Join(err, f.Sync(), syncDir(notesDir(commonDir))); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// HalfWorktrees are the notes of working trees that nobody makes any more.
func HalfWorktrees(commonDir string) (notes []string) {
	entries, _ := os.ReadDir(notesDir(commonDir)) // no folder, no notes
	for _, e := range entries {
		name := filepath.Join(notesDir(commonDir), e.Name())
		if f, err := ownNote(name); err == nil {
			notes = append(notes, name)
			f.Close()
		}
	}
	return notes
}

// ownNote opens a note that nobody holds, and holds it.
func ownNote(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fs.ErrInvalid
	case err == nil && !owned(info):
		err = ErrNotOurs
	case err == nil:
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ForgetWorktree removes what there is of the working tree of a note that nobody
// holds, if git did not make all of it, and the note.
func ForgetWorktree(commonDir, note string) error {
	f, err := ownNote(note)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 8<<10))
	if err != nil {
		return err
	}
	if dir := strings.TrimSuffix(string(text), "\n"); filepath.IsAbs(dir) {
		if err := ForgetHalf(commonDir, dir); err != nil {
			return err
		}
	}
	return os.Remove(note)
}

// initializing is what git writes into the lock of a working tree until it is whole.
const initializing = "initializing"

// ForgetHalf removes what git has written of a working tree in a folder, where that
// is not all. What else is in the folder stays.
func ForgetHalf(commonDir, dir string) error {
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		parent, err = filepath.Dir(dir), nil
	}
	if err != nil {
		return err
	}
	link := filepath.Join(parent, filepath.Base(dir), ".git")
	all := filepath.Join(commonDir, "worktrees")
	entries, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	half := false
	for _, e := range entries {
		own := filepath.Join(all, e.Name())
		if e.IsDir() && isHalf(own, link) {
			half = true
			err = errors.Join(err, os.RemoveAll(own))
		}
	}
	if err != nil || !half {
		return err
	}
	_ = os.Remove(link)
	_ = os.Remove(filepath.Dir(link)) // if it is empty
	_ = os.Remove(all)
	return nil
}

// isHalf reports whether git's folder of a working tree is that of one that was to
// have the link, and is not whole. Before its folder says where that is, its name
// and the lock have to do.
func isHalf(own, link string) bool {
	lock, err := os.ReadFile(filepath.Join(own, "locked"))
	if err != nil || strings.TrimSpace(string(lock)) != initializing {
		return emptyFor(own, link)
	}
	named, err := os.ReadFile(filepath.Join(own, "gitdir"))
	if where := strings.TrimSpace(string(named)); err == nil && where != "" {
		return where == link
	}
	return strings.HasPrefix(filepath.Base(own), filepath.Base(filepath.Dir(link)))
}

// emptyFor reports whether git's folder is one in which nothing was written yet.
func emptyFor(own, link string) bool {
	entries, err := os.ReadDir(own)
	for _, e := range entries {
		info, fault := e.Info()
		if e.Name() != "locked" || fault != nil || info.Size() > 0 {
			return false
		}
	}
	return err == nil && strings.HasPrefix(filepath.Base(own), filepath.Base(filepath.Dir(link)))
}
