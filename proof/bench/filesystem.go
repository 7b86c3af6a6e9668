package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jp/gitstore/odb"
)

// system is the root of the kernel's data about itself.
var system = os.DirFS("/")

// A filesystem is one to measure on.
type filesystem struct {
	Name    string   `json:"name"`
	Dir     string   `json:"dir"`
	Type    string   `json:"file_system"`
	Options string   `json:"options,omitempty"`
	Journal string   `json:"journal"`
	Path    odb.Path `json:"write_path"`
}

// String is one line.
func (p filesystem) String() string {
	return fmt.Sprintf("%s: %s, journal: %s; jp writes by the %s path", p.Name, p.Type, p.Journal, p.Path)
}

// placeOf describes the file system of a folder with a git repository.
func placeOf(name, dir, gitDir string) (filesystem, error) {
	store, err := odb.Open(gitDir, odb.Options{})
	if err != nil {
		return filesystem{}, err
	}
	defer store.Close()
	p := filesystem{Name: name, Dir: dir, Type: "unknown", Journal: "unknown", Path: store.Path()}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if m, err := mountOf(dir); err == nil { // it needs Linux
		p.Type, p.Options, p.Journal = m.FSType, m.Options, journalOf(system, m)
	}
	return p, nil
}

// A mount is findmnt's data about a mount.
type mount struct {
	Device  string `json:"maj:min"`
	Target  string
	FSType  string
	Options string `json:"fs-options"`
}

// mountOf is the mount that a path is on.
func mountOf(dir string) (mount, error) {
	out, err := exec.Command("findmnt", "--json", "--output", "MAJ:MIN,TARGET,FSTYPE,FS-OPTIONS", "--target", dir).Output()
	if err != nil {
		return mount{}, err
	}
	var found struct{ Filesystems []mount }
	if err := json.Unmarshal(out, &found); err != nil || len(found.Filesystems) == 0 {
		return mount{}, fmt.Errorf("findmnt names no mount of %s: %w", dir, err)
	}
	return found.Filesystems[0], nil
}

// journalOf reports whether a file system has a journal: "yes", "no", or any other answer.
func journalOf(root fs.FS, m mount) string {
	switch m.FSType {
	case "xfs", "jfs":
		return "yes"
	case "tmpfs", "ramfs", "ext2", "vfat":
		return "no"
	case "btrfs":
		if slices.Contains(strings.Split(m.Options, ","), "ssd") {
			return "copy on write (ssd)"
		}
		return "copy on write"
	case "zfs", "bcachefs":
		return "copy on write"
	case "ext3", "ext4":
		return extJournal(root, m.Device)
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
