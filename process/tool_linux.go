package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FromTool reports whether a process was started by a tool of some conversation of this repository, as far as
// jp can tell: it has the lock of a tool run open, which all processes of a tool inherit, or the variable (if
// any is given) in its environment. If this process can get new privileges and another cannot, the other one
// is confined, for good. If this one cannot either, such as in a container, this proves nothing. A program
// that drops all of these stays unknown.
func (l Locks) FromTool(pid int, variable string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // empty for a process that is gone
	for _, pair := range bytes.Split(environ, []byte{0}) {
		if variable != "" && bytes.HasPrefix(pair, []byte(variable+"=")) {
			return true
		}
	}
	fds, _ := os.ReadDir(filepath.Join(dir, "fd"))
	for _, fd := range fds {
		path, err := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
		name := strings.TrimSuffix(filepath.Base(path), " (deleted)")
		if err == nil && filepath.Dir(path) == l.Dir && filepath.Ext(name) != lockSuffix {
			return true
		}
	}
	return noNewPrivileges(pid) && !noNewPrivileges(os.Getpid())
}

// noNewPrivileges reports whether a process gave up that a program which it starts
// may get more privileges than it has.
func noNewPrivileges(pid int) bool {
	status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	return bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}
