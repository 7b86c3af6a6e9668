package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// field reads a number from lines like "VmRSS:  20244 kB" or "Threads:  7".
func field(text, name string) (int64, error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) >= 2 && words[0] == name+":" {
			return strconv.ParseInt(words[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("%w: it says no %s", errSystem, name)
}

// A footprint is a process's use of resources.
type footprint struct {
	resident     int64 // bytes, shared ones included: VmRSS
	proportional int64 // bytes, shared ones by its share: Pss
	threads      int64
}

func footprintOf(pid int) (f footprint, err error) {
	status, err := os.ReadFile(filepath.Join(procOf(pid), "status"))
	if err != nil {
		return f, err
	}
	if f.resident, err = field(string(status), "VmRSS"); err != nil {
		return f, err
	}
	if f.threads, err = field(string(status), "Threads"); err != nil {
		return f, err
	}
	rollup, err := os.ReadFile(filepath.Join(procOf(pid), "smaps_rollup"))
	if err != nil {
		return f, err
	}
	f.proportional, err = field(string(rollup), "Pss")
	f.resident, f.proportional = f.resident<<10, f.proportional<<10
	return f, err
}

// descriptors are a process's open files, sorted. Sockets and pipes are named without their numbers.
func descriptors(pid int) (open []string, err error) {
	dir := filepath.Join(procOf(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			name, _, _ := strings.Cut(target, ":[")
			open = append(open, name)
		}
	}
	slices.Sort(open)
	return open, nil
}

// beyond are the descriptors of now that are missing in before.
func beyond(before, now []string) (extra []string) {
	left := slices.Clone(before)
	for _, name := range now {
		if i := slices.Index(left, name); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		extra = append(extra, name)
	}
	return extra
}

func childrenOf(pid int) (children []int, err error) {
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if child, parent, ok := parentIn(stat); ok && parent == pid {
			children = append(children, child)
		}
	}
	return children, nil
}

// parentIn reads a process and its parent from /proc/PID/stat. The name between
// them may hold anything.
func parentIn(stat []byte) (pid, parent int, ok bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return 0, 0, false
	}
	rest := bytes.Fields(stat[end+1:])
	if len(rest) < 2 {
		return 0, 0, false
	}
	pid, errPID := strconv.Atoi(string(bytes.TrimSpace(stat[:open])))
	parent, errParent := strconv.Atoi(string(rest[1]))
	if errPID != nil || errParent != nil {
		return 0, 0, false
	}
	return pid, parent, true
}

var goroutineHeader = regexp.MustCompile(`(?m)^goroutine \d+ .*\[.*\]:$`)

// goroutinesIn counts the goroutines in a program's trace after a quit signal. The runtime's own are not
// among them.
func goroutinesIn(trace []byte) int { return len(goroutineHeader.FindAll(trace, -1)) }

func procOf(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid)) }
