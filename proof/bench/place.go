package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"jp/gitstore/odb"
)

// system is the root of what the kernel says of itself.
var system = os.DirFS("/")

// A place is a file system to measure on.
type place struct {
	Name    string   `json:"name"`
	Dir     string   `json:"dir"`
	Type    string   `json:"file_system"`
	Options string   `json:"options,omitempty"`
	Journal string   `json:"journal"`
	Path    odb.Path `json:"write_path"`
}

// String is one line.
func (p place) String() string {
	return fmt.Sprintf("%s: %s, journal: %s; jp writes by the %s path", p.Name, p.Type, p.Journal, p.Path)
}

// placeOf says what a folder with a git repository stands on.
func placeOf(name, dir, gitDir string) (place, error) {
	store, err := odb.Open(gitDir, odb.Options{})
	if err != nil {
		return place{}, err
	}
	defer store.Close()
	p := place{Name: name, Dir: dir, Type: "unknown", Journal: "unknown", Path: store.Path()}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	table, err := fs.ReadFile(system, "proc/self/mountinfo")
	if err != nil {
		return p, nil // not Linux, or /proc is hidden
	}
	if m, ok := mountOf(string(table), dir); ok {
		p.Type, p.Options, p.Journal = m.fstype, m.options, journalOf(system, m)
	}
	return p, nil
}

// A mount is one line of mountinfo.
type mount struct {
	device  string // "major:minor"
	point   string
	fstype  string
	options string // of the file system
}

// mountOf finds the mount that an absolute path is on: the longest mount point
// above it, and of two on one point the later, which hides the other.
func mountOf(table, dir string) (found mount, ok bool) {
	for line := range strings.Lines(table) {
		m, valid := parseMount(line)
		if valid && above(m.point, dir) && len(m.point) >= len(found.point) {
			found, ok = m, true
		}
	}
	return found, ok
}

func parseMount(line string) (mount, bool) {
	left, right, ok := strings.Cut(line, " - ")
	l, r := strings.Fields(left), strings.Fields(right)
	if !ok || len(l) < 6 || len(r) < 3 {
		return mount{}, false
	}
	return mount{device: l[2], point: unescape(l[4]), fstype: r[0], options: r[2]}, true
}

func above(point, dir string) bool {
	return dir == point || strings.HasPrefix(dir, strings.TrimSuffix(point, "/")+"/")
}

// unescape undoes the kernel's \040 for a space and the like.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// journalOf says whether a file system has a journal: "yes", "no", or what else
// is known.
func journalOf(root fs.FS, m mount) string {
	switch m.fstype {
	case "xfs", "jfs":
		return "yes"
	case "tmpfs", "ramfs", "ext2", "vfat":
		return "no"
	case "btrfs":
		if slices.Contains(strings.Split(m.options, ","), "ssd") {
			return "copy on write (ssd)"
		}
		return "copy on write"
	case "zfs", "bcachefs":
		return "copy on write"
	case "ext3", "ext4":
		return extJournal(root, m.device)
	}
	return "unknown"
}

// extJournal looks for a data mode, which only a journal has.
func extJournal(root fs.FS, device string) string {
	link, err := fs.ReadLink(root, "sys/dev/block/"+device)
	if err != nil {
		return "unknown"
	}
	options, err := fs.ReadFile(root, "proc/fs/ext4/"+path.Base(link)+"/options")
	if err != nil {
		return "unknown"
	}
	for _, option := range strings.Fields(string(options)) {
		if strings.HasPrefix(option, "data=") {
			return "yes (" + option + ")"
		}
	}
	return "no"
}

// loadAverage is the number of runnable tasks over the last minute.
func loadAverage(root fs.FS) string {
	text, err := fs.ReadFile(root, "proc/loadavg")
	if err != nil {
		return ""
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}
