package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// programs reads them from /proc.
func programs(is func(name string) bool) (found []Program, sure bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false
	}
	own := map[int]bool{os.Getpid(): true} // this process and its descendants
	parents := map[int]int{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && isOurs(pid) {
			name, parent := nameAndParent(pid)
			parents[pid] = parent
			if !is(name) {
				continue
			}
			if p, lives := programOf(pid); lives {
				found = append(found, p)
			}
		}
	}
	others := found[:0]
	for _, p := range found {
		pid := p.PID
		for pid > 1 && !own[pid] {
			pid = parents[pid]
		}
		if !own[pid] {
			others = append(others, p)
		}
	}
	return others, true
}

// programOf looks at a process, and reports whether it still runs.
func programOf(pid int) (p Program, lives bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	at, err := os.Readlink(filepath.Join(dir, "cwd"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return p, false
	}
	return Program{PID: pid, Dir: at, Args: zeroEnded(filepath.Join(dir, "cmdline")), Environ: zeroEnded(filepath.Join(dir, "environ"))}, true
}

// zeroEnded are the strings of a file, each with a zero byte at its end.
func zeroEnded(path string) (all []string) {
	text, _ := os.ReadFile(path) // empty if unreadable
	for part := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
		all = append(all, string(part))
	}
	return all
}

// nameAndParent finds fields 2 and 4 of a stat file. Field 2 is a name in parentheses, of
// which a program chooses every byte.
func nameAndParent(pid int) (name string, parent int) {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")) // empty if it has ended
	stat := string(text)
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return "", 0
	}
	if fields := strings.Fields(stat[end+1:]); len(fields) > 1 {
		parent, _ = strconv.Atoi(fields[1])
	}
	return stat[open+1 : end], parent
}
