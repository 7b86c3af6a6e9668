package safefile

import (
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Folders opens files below a folder without following symbolic links. It keeps open the folders above
// the newest path. None of them is a link: git takes files behind one for absent.
type Folders struct {
	fds  []int
	ends []int // of their names in path, but for that of the top
	path []byte
}

// OpenFolders opens the folder at the top. Without it all paths are absent.
func OpenFolders(top string) *Folders {
	fd, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &Folders{}
	}
	return &Folders{fds: []int{fd}}
}

// Close closes all of them.
func (f *Folders) Close() { f.leave(0) }

// leave closes all but n.
func (f *Folders) leave(n int) {
	for _, fd := range f.fds[min(n, len(f.fds)):] {
		unix.Close(fd)
	}
	f.fds, f.ends = f.fds[:min(n, len(f.fds))], f.ends[:max(0, min(n-1, len(f.ends)))]
}

// mostPath bounds the path of a file.
const mostPath = 4096

// mostOpen is how many folders are open at once.
const mostOpen = 64

// Lstat looks at a path below the top. One that leads anywhere else is unix.EINVAL, one
// that is too long unix.ENAMETOOLONG, one that is too deep unix.EMFILE.
func (f *Folders) Lstat(path []byte) (st unix.Stat_t, err error) {
	in, name, err := f.find(path)
	for err == nil {
		err = unix.Fstatat(in, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			break
		}
		err = nil
	}
	return st, err
}

// OpenFile opens a path below the top for reading, and does not wait for a writer.
func (f *Folders) OpenFile(path []byte) (*os.File, error) {
	in, name, err := f.find(path)
	for err == nil {
		var fd int
		if fd, err = unix.Openat(in, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
			return os.NewFile(uintptr(fd), string(path)), nil
		} else if err == unix.EINTR {
			err = nil
		}
	}
	return nil, err
}

// Readlink gives the target of a link below the top.
func (f *Folders) Readlink(path []byte) ([]byte, error) {
	in, name, err := f.find(path)
	if err != nil {
		return nil, err
	}
	target := make([]byte, mostPath+1)
	n, err := unix.Readlinkat(in, name, target)
	return target[:max(n, 0)], err
}

// find opens the folder of a path.
func (f *Folders) find(path []byte) (in int, name string, err error) {
	if len(f.fds) == 0 {
		return 0, "", unix.EBADF
	}
	if len(path) > mostPath {
		return 0, "", unix.ENAMETOOLONG
	}
	slash := bytes.LastIndexByte(path, '/')
	if err := f.enter(path[:max(slash, 0)]); err != nil {
		return 0, "", err
	}
	if name = string(path[slash+1:]); !isPlainName(name) {
		return 0, "", unix.EINVAL
	}
	return f.fds[len(f.fds)-1], name, nil
}

// enter opens the folder of a path, from the place at which it differs from the last one.
func (f *Folders) enter(dir []byte) error {
	if len(f.ends) == strings.Count(string(dir), "/")+1 && bytes.Equal(f.path, dir) {
		return nil
	}
	keep := 0
	for keep < len(f.ends) && f.ends[keep] <= len(dir) && bytes.Equal(f.path[:f.ends[keep]], dir[:f.ends[keep]]) && (f.ends[keep] == len(dir) || dir[f.ends[keep]] == '/') {
		keep++
	}
	f.leave(keep + 1)
	f.path = dir
	at := 0
	if keep > 0 {
		at = f.ends[keep-1] + 1
	}
	for at < len(dir) {
		end := len(dir)
		if i := bytes.IndexByte(dir[at:], '/'); i >= 0 {
			end = at + i
		}
		name := string(dir[at:end])
		switch {
		case !isPlainName(name):
			return unix.EINVAL
		case len(f.fds) >= mostOpen:
			return unix.EMFILE
		}
		fd, err := unix.Openat(f.fds[len(f.fds)-1], name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f.fds, f.ends = append(f.fds, fd), append(f.ends, end)
		at = end + 1
	}
	return nil
}

// isPlainName reports whether a name stays in its folder.
func isPlainName(name string) bool { return name != "" && name != "." && name != ".." }
