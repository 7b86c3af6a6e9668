package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// OpenedBy are the processes that have each of the files open, this one among
// them. sure is whether that is all of them, as far as processes of this user go:
// the system may keep some from being looked at.
func OpenedBy(files []os.FileInfo) (by [][]int, sure bool) {
	by = make([][]int, len(files))
	index, names := map[fileKey][]int{}, map[string]bool{}
	for i, f := range files {
		names[f.Name()] = true
		key, ok := keyOf(f)
		if !ok {
			return by, false
		}
		index[key] = append(index[key], i)
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return by, false
	}
	sure = true
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		opened, readable := openedBy(pid, names)
		sure = sure && (readable || !isOurs(pid))
		for key := range opened {
			for _, i := range index[key] {
				by[i] = append(by[i], pid)
			}
		}
	}
	return by, sure
}

// A fileKey tells files apart that exist at one time.
type fileKey struct{ dev, inode uint64 }

func keyOf(info os.FileInfo) (fileKey, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileKey{}, false
	}
	return fileKey{uint64(stat.Dev), stat.Ino}, true
}

// openedBy are the files of these names that a process has open, none if it has ended. Files of other names
// are left alone: on a file system that hangs, a look would hang.
func openedBy(pid int, names map[string]bool) (files map[fileKey]bool, readable bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	fds, err := os.ReadDir(dir)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
	}
	files = map[fileKey]bool{}
	for _, fd := range fds {
		path := filepath.Join(dir, fd.Name())
		target, err := os.Readlink(path)
		if err != nil || !names[filepath.Base(target)] {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue // closed meanwhile
		}
		if key, ok := keyOf(info); ok {
			files[key] = true
		}
	}
	return files, true
}

// isOurs reports whether a process runs as this user; one that has ended does not.
func isOurs(pid int) bool {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	return err == nil && ownerOf(info) == os.Geteuid()
}
