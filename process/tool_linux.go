package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FromTool reports whether a process was started by a tool of some conversation
// of this repository, as far as can be told: it has the lock of a tool run open,
// which all that a tool starts inherits, or the variable (if any is given) in its
// environment. A program that gets rid of both is not known.
func (l Locks) FromTool(pid int, variable string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // that of a process that is gone says nothing
	for _, pair := range bytes.Split(environ, []byte{0}) {
		if variable != "" && bytes.HasPrefix(pair, []byte(variable+"=")) {
			return true
		}
	}
	fds, _ := os.ReadDir(filepath.Join(dir, "fd"))
	for _, fd := range fds {
		path, err := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
		name := strings.TrimSuffix(filepath.Base(path), " (deleted)")
		if err == nil && filepath.Dir(path) == l.Dir && filepath.Ext(name) != ".lock" {
			return true
		}
	}
	return false
}
