//go:build amd64 || arm64

package crashtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A change is a kind of system call that changes files or starts a child. look returns the subject of one
// call, and whether it counts.
type change struct {
	name string
	look func(c call) (path string, counts bool)
}

// A call is one system call of a stopped thread.
type call struct {
	tid  int
	args [6]uint64
}

// changes reports whether a call counts, and its subject.
func changes(tid int, nr uint64, args [6]uint64) (name, path string, counts bool) {
	c, known := table[nr]
	if !known {
		c, known = legacy[nr]
	}
	if !known {
		return "", "", false
	}
	path, counts = c.look(call{tid: tid, args: args})
	return c.name, path, counts
}

// table has the calls that all processors know.
var table = map[uint64]change{
	unix.SYS_OPENAT:  {"openat", opens(2, 1, 0)},
	unix.SYS_OPENAT2: {"openat2", opensHow},

	unix.SYS_WRITE:           {"write", writes(0)},
	unix.SYS_PWRITE64:        {"pwrite64", writes(0)},
	unix.SYS_WRITEV:          {"writev", writes(0)},
	unix.SYS_PWRITEV:         {"pwritev", writes(0)},
	unix.SYS_PWRITEV2:        {"pwritev2", writes(0)},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", writes(2)},
	unix.SYS_SENDFILE:        {"sendfile", writes(0)},
	unix.SYS_SPLICE:          {"splice", writes(2)},
	unix.SYS_FALLOCATE:       {"fallocate", writes(0)},
	unix.SYS_FTRUNCATE:       {"ftruncate", writes(0)},

	unix.SYS_FSYNC:           {"fsync", handles},
	unix.SYS_FDATASYNC:       {"fdatasync", handles},
	unix.SYS_SYNC_FILE_RANGE: {"sync_file_range", handles},
	unix.SYS_SYNCFS:          {"syncfs", handles},
	unix.SYS_FLOCK:           {"flock", handles},
	unix.SYS_FCHMOD:          {"fchmod", handles},
	unix.SYS_FCHOWN:          {"fchown", handles},

	unix.SYS_MKDIRAT:   {"mkdirat", names(1, 0)},
	unix.SYS_UNLINKAT:  {"unlinkat", names(1, 0)},
	unix.SYS_SYMLINKAT: {"symlinkat", names(2, 1)},
	unix.SYS_MKNODAT:   {"mknodat", names(1, 0)},
	unix.SYS_LINKAT:    {"linkat", names(3, 2)},
	unix.SYS_RENAMEAT:  {"renameat", names(3, 2)},
	unix.SYS_RENAMEAT2: {"renameat2", names(3, 2)},
	unix.SYS_FCHMODAT:  {"fchmodat", names(1, 0)},
	unix.SYS_FCHMODAT2: {"fchmodat2", names(1, 0)},
	unix.SYS_FCHOWNAT:  {"fchownat", names(1, 0)},
	unix.SYS_UTIMENSAT: {"utimensat", names(1, 0)},
	unix.SYS_TRUNCATE:  {"truncate", names(0, noDir)},

	unix.SYS_CLONE:  {"clone", func(c call) (string, bool) { return "", c.args[0]&unix.CLONE_THREAD == 0 }},
	unix.SYS_CLONE3: {"clone3", func(c call) (string, bool) { return "", c.word(c.args[0])&unix.CLONE_THREAD == 0 }},
}

// noDir stands for the directory argument of calls that have none.
const noDir = -1

// writing are the flags with which opening a file can change it.
const writing = unix.O_CREAT | unix.O_TRUNC

func opens(flags, path, dir int) func(call) (string, bool) {
	return func(c call) (string, bool) {
		if c.args[flags]&writing == 0 {
			return "", false
		}
		return c.path(path, dir), true
	}
}

// opensHow is openat2, whose flags are behind a pointer.
func opensHow(c call) (string, bool) {
	if c.word(c.args[2])&writing == 0 {
		return "", false
	}
	return c.path(1, 0), true
}

// names are calls that name the path that they change.
func names(path, dir int) func(call) (string, bool) {
	return func(c call) (string, bool) { return c.path(path, dir), true }
}

// writes are calls that count for regular files, not for pipes and terminals.
func writes(fd int) func(call) (string, bool) {
	return func(c call) (string, bool) {
		path := c.open(fd)
		info, err := os.Stat(c.link(fd))
		if err != nil || !info.Mode().IsRegular() || !filepath.IsAbs(path) { // an eventfd looks regular, but has no path
			return "", false
		}
		return path, true
	}
}

// handles are calls on a descriptor that always count.
func handles(c call) (string, bool) { return c.open(0), true }

func (c call) link(arg int) string {
	return fmt.Sprintf("/proc/%d/fd/%d", c.tid, int32(c.args[arg]))
}

// open is the path of an open file, or "".
func (c call) open(arg int) string {
	path, _ := os.Readlink(c.link(arg))
	return path
}

// path is a path argument, made absolute with its directory argument.
func (c call) path(arg, dir int) string {
	path := ""
	if c.args[arg] != 0 {
		text, _, _ := bytes.Cut(c.memory(c.args[arg], unix.PathMax), []byte{0})
		path = string(text)
	}
	switch {
	case filepath.IsAbs(path):
		return path
	case dir == noDir || int32(c.args[dir]) == unix.AT_FDCWD:
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", c.tid))
		return filepath.Join(cwd, path)
	}
	return filepath.Join(c.open(dir), path)
}

// word is eight bytes of the thread's memory, or 0.
func (c call) word(address uint64) uint64 {
	text := c.memory(address, 8)
	if len(text) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(text)
}

// memory reads the mapped part of some bytes of the thread's memory.
func (c call) memory(address uint64, size int) []byte {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", c.tid))
	if err != nil {
		return nil
	}
	defer f.Close()
	text := make([]byte, size)
	n, _ := f.ReadAt(text, int64(address))
	return text[:n]
}
