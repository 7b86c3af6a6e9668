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

	"jp/internal/safefile"
)

// While git makes a linked working tree, a locked note in jp's folder names its place. A git that is killed,
// or can no longer write, leaves half of one, with which `git fsck` and others fail. It is a leftover if its
// note is free.

func notesDir(commonDir string) string {
	return filepath.Join(commonDir, safefile.StateDirName, notesFolder)
}

const notesFolder = "worktrees"

// beginning is the prefix of a note that is being written: readers skip it.
const beginning = ".new-"

// MakingWorktree notes that git is about to make a working tree in a folder, that is free and has an absolute
// path, until end. Other processes that have the note's file open hold it, too: git has to, since it may
// outlive jp. After an error the tree must not be made. The folder of notes is shared, and the notes are the
// user's own.
func MakingWorktree(in safefile.StateDir, dir string) (note *os.File, end func(), err error) {
	commonDir := in.GitDir
	notes, err := in.Open(notesFolder)
	if err != nil {
		return nil, nil, err
	}
	defer notes.Close()
	name := rand.Text()
	first, last := filepath.Join(notesDir(commonDir), beginning+name), filepath.Join(notesDir(commonDir), name)
	f, err := notes.OpenFile(filepath.Base(first), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, err
	}
	end = func() {
		_ = os.Remove(last) // a note that stays does not affect a whole working tree
		f.Close()
	}
	if err = safefile.TryLock(f); err == nil {
		_, err = f.WriteString(dir + "\n")
	}
	if err = errors.Join(err, f.Sync()); err == nil {
		err = notes.Rename(filepath.Base(first), filepath.Base(last))
	}
	if err = errors.Join(err, syncDir(notesDir(commonDir))); err != nil {
		_ = os.Remove(first)
		end()
		return nil, nil, err
	}
	return f, end, nil
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// HalfWorktrees are the notes of working trees whose maker has ended.
func HalfWorktrees(commonDir string) (notes []string) {
	entries, _ := os.ReadDir(notesDir(commonDir)) // empty without the folder
	for _, e := range entries {
		name := filepath.Join(notesDir(commonDir), e.Name())
		if strings.HasPrefix(e.Name(), beginning) {
			continue
		}
		if f, err := ownNote(name); err == nil {
			notes = append(notes, name)
			safefile.Unlock(f)
		}
	}
	return notes
}

// ownNote opens and locks a free note.
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
		err = safefile.TryLock(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ForgetWorktree removes an unfinished working tree with a free note, and the note.
func ForgetWorktree(commonDir, note string) error {
	f, err := ownNote(note)
	if err != nil {
		return err
	}
	defer safefile.Unlock(f)
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

// initializing is git's text in the lock of an unfinished working tree.
const initializing = "initializing"

// ForgetHalf removes git's files of an unfinished working tree in a folder. Other files in the folder stay.
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
	target := linked(link)
	for _, e := range entries {
		own := filepath.Join(all, e.Name())
		if !e.IsDir() || !isHalf(own, link) {
			continue
		}
		leads := sameFolder(target, own)
		if fault := os.RemoveAll(own); fault != nil {
			err = errors.Join(err, fault)
		} else if leads {
			_ = os.Remove(link)
		}
	}
	if err == nil {
		_ = os.Remove(filepath.Dir(link)) // if it is empty
		_ = os.Remove(all)
	}
	return err
}

// linked is git's folder that the link of a working tree leads to, or "". A link without text leads to any.
func linked(link string) string {
	text, err := os.ReadFile(link)
	if err != nil {
		return ""
	}
	if len(text) == 0 {
		return anywhere
	}
	where, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !filepath.IsAbs(where) {
		where = filepath.Join(filepath.Dir(link), where)
	}
	return where
}

const anywhere = "*"

func sameFolder(a, b string) bool {
	if a == anywhere {
		return true
	}
	one, err := os.Stat(a)
	other, fault := os.Stat(b)
	return err == nil && fault == nil && os.SameFile(one, other)
}

// isHalf reports whether git's folder is that of an unfinished working tree with the link. Before the folder
// names its working tree, its name and the lock are the evidence.
func isHalf(own, link string) bool {
	lock, err := os.ReadFile(filepath.Join(own, "locked"))
	begun := err == nil && strings.TrimSpace(string(lock)) == initializing
	if !begun && !isEmpty(own) {
		return false
	}
	named, err := os.ReadFile(filepath.Join(own, "gitdir"))
	where := strings.TrimSpace(string(named))
	switch {
	case err != nil || where == "":
		return namedAfter(filepath.Base(own), filepath.Base(filepath.Dir(link)))
	case !filepath.IsAbs(where):
		where = filepath.Join(own, where)
	}
	return where == link
}

// isEmpty reports whether a folder of git is empty, except for an empty lock.
func isEmpty(own string) bool {
	entries, err := os.ReadDir(own)
	for _, e := range entries {
		info, fault := e.Info()
		if e.Name() != "locked" || fault != nil || info.Size() > 0 {
			return false
		}
	}
	return err == nil
}

// namedAfter reports whether git may have named its folder of a working tree after that one's: characters
// that a ref cannot have become dashes, and a number makes it unique.
func namedAfter(name, folder string) bool {
	name = strings.TrimRight(name, "0123456789")
	folder = strings.TrimRight(folder, "0123456789")
	plain := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || strings.ContainsRune(" ~^:?*[\\.@{", r) || r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, text)
	}
	return plain(name) == plain(folder)
}
