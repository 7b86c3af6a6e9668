package backup

import (
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// A look looks at the paths of a working tree.
type look struct {
	*safefile.Folders
	format gitcmd.ObjectFormat
}

func (s *Store) look() look { return look{safefile.OpenFolders(s.opts.Top), s.opts.Format} }

// at is the entry of a path, without its content. The mode of a missing path is 0.
func (l look) at(path string) Entry {
	st, err := l.Lstat([]byte(path))
	if err != nil {
		return Entry{Path: path}
	}
	return entryOf(path, &st)
}

// closed is a folder that is only named, by a path with a slash at its end.
func (l look) closed(path string) Entry {
	e := l.at(strings.TrimSuffix(path, "/"))
	if !e.IsFolder() {
		return Entry{Path: path}
	}
	return Entry{Path: path, Mode: unix.S_IFDIR, Dev: e.Dev, Ino: e.Ino, Why: WhyFolder}
}

// read gives the content of a file, or the target of a link, and notes its name in the entry. If the file
// changes meanwhile it is read once more. If it changes again, the entry gets the reason.
func (l look) read(e *Entry) []byte {
	if e.IsLink() {
		target, err := l.Readlink([]byte(e.Path))
		if err != nil {
			e.Why = WhyUnread
			return nil
		}
		e.OID = l.format.Name("blob", target)
		return target
	}
	for range 2 {
		f, err := l.OpenFile([]byte(e.Path))
		if err != nil {
			e.Why = WhyUnread
			return nil
		}
		data, same, err := readWhole(f, e)
		if err != nil {
			e.Why = WhyUnread
			return nil
		}
		if same {
			e.OID = l.format.Name("blob", data)
			return data
		}
	}
	e.Why = WhyMoving
	return nil
}

// readWhole reads an open file, and updates the entry. same reports whether the file is untouched since the
// entry was made.
func readWhole(f *os.File, e *Entry) (data []byte, same bool, err error) {
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, false, err
	}
	if now := entryOf(e.Path, &st); !e.sameFile(&now) {
		*e = now
	}
	if !e.IsFile() {
		return nil, false, unix.EINVAL
	}
	data = make([]byte, e.Size)
	n, err := io.ReadFull(f, data)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, false, err
	}
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, false, err
	}
	now := entryOf(e.Path, &st)
	same = int64(n) == e.Size && e.sameFile(&now)
	*e = now
	return data, same, nil
}

// checkoutMode is the mode that a checkout gives to a file, executable as it is.
func checkoutMode(mode uint32) uint32 {
	perm := uint32(0o666)
	if mode&0o100 != 0 {
		perm = 0o777
	}
	return perm &^ umask()
}

// OddMode reports whether a file has another mode than a checkout gives.
func OddMode(mode uint32) bool { return mode&0o7777 != checkoutMode(mode) }

// umask is that of this process. Linux has it in a file. Elsewhere, setting it twice is the only way to know
// it.
var umask = sync.OnceValue(func() uint32 {
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(text)) {
			if word, is := strings.CutPrefix(line, "Umask:"); is {
				mask := uint32(0)
				for _, c := range strings.TrimSpace(word) {
					mask = mask<<3 | uint32(c-'0')
				}
				return mask
			}
		}
	}
	old := unix.Umask(0o077)
	unix.Umask(old)
	return uint32(old)
})
