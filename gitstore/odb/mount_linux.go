package odb

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	magicXFS = 0x58465342
	magicExt = 0xEF53
)

// Ordered is an allow-list: xfs, and ext4 with a journal and barriers.
// Whatever cannot be found out counts as no.
func (osFS) Ordered(objects, refs Dir) bool {
	o, okO := objects.(osDir)
	r, okR := refs.(osDir)
	if !okO || !okR {
		return false
	}
	var fsO unix.Statfs_t
	var stO, stR unix.Stat_t
	if unix.Fstatfs(int(o), &fsO) != nil || unix.Fstat(int(o), &stO) != nil || unix.Fstat(int(r), &stR) != nil {
		return false
	}
	if stO.Dev != stR.Dev {
		return false
	}
	device := fmt.Sprintf("%d:%d", unix.Major(stO.Dev), unix.Minor(stO.Dev))
	return orderedMount(os.DirFS("/"), int64(fsO.Type), device)
}

// orderedMount decides from what root's /proc and /sys say of a device.
func orderedMount(root fs.FS, magic int64, device string) bool {
	fstype, options := mountOf(root, device)
	if slices.Contains(options, "nobarrier") || slices.Contains(options, "barrier=0") {
		return false
	}
	switch magic {
	case magicXFS:
		return fstype == "xfs"
	case magicExt:
		return fstype == "ext4" && hasJournal(root, device)
	}
	return false
}

// mountOf gives the type and the options of the first mount of a device.
func mountOf(root fs.FS, device string) (fstype string, options []string) {
	table, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return "", nil
	}
	for line := range strings.Lines(string(table)) {
		mount, super, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(mount), strings.Fields(super)
		if ok && len(left) > 5 && len(right) > 2 && left[2] == device {
			return right[0], strings.Split(left[5]+","+right[2], ",")
		}
	}
	return "", nil
}

// hasJournal asks twice: the options name a data mode only with a journal,
// and the journal has a running task.
func hasJournal(root fs.FS, device string) bool {
	link, err := fs.ReadLink(root, "sys/dev/block/"+device)
	if err != nil {
		return false
	}
	name := path.Base(link)
	options, err := fs.ReadFile(root, "proc/fs/ext4/"+name+"/options")
	if err != nil {
		return false
	}
	lines := strings.Fields(string(options))
	data := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "data=") })
	if !data || slices.Contains(lines, "nobarrier") {
		return false
	}
	task, err := fs.ReadFile(root, "sys/fs/ext4/"+name+"/journal_task")
	return err == nil && strings.TrimSpace(string(task)) != "<none>"
}
