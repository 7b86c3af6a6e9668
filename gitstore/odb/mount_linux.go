package odb

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	magicXFS   = 0x58465342
	magicExt   = 0xEF53
	magicBtrfs = 0x9123683E
)

// FlushTraits reads the mount of the directories. Unknown properties count as unordered.
func (osFS) FlushTraits(objects, refs Dir) FlushTraits {
	o, okO := objects.(osDir)
	r, okR := refs.(osDir)
	if !okO || !okR {
		return FlushTraits{}
	}
	var fsO unix.Statfs_t
	if unix.Fstatfs(int(o), &fsO) != nil {
		return FlushTraits{}
	}
	if int64(fsO.Type) == magicBtrfs {
		return FlushTraits{OneByOne: !logsAtOnce(os.DirFS("/"), mountID(int(o)))}
	}
	var stO, stR unix.Stat_t
	if unix.Fstat(int(o), &stO) != nil || unix.Fstat(int(r), &stR) != nil || stO.Dev != stR.Dev {
		return FlushTraits{}
	}
	device := fmt.Sprintf("%d:%d", unix.Major(stO.Dev), unix.Minor(stO.Dev))
	return FlushTraits{OrderedMetadata: orderedMount(os.DirFS("/"), int64(fsO.Type), device)}
}

// orderedMount decides by the entries of a device in root's /proc and /sys. It is an allow-list: xfs, and
// ext4 with a journal and barriers.
func orderedMount(root fs.FS, magic int64, device string) bool {
	m := mountWhere(root, func(m mount) bool { return m.device == device })
	if m.has("nobarrier") || m.has("barrier=0") {
		return false
	}
	switch magic {
	case magicXFS:
		return m.fstype == "xfs"
	case magicExt:
		return m.fstype == "ext4" && hasJournal(root, device)
	}
	return false
}

// logsAtOnce reports whether a btrfs takes its device for a disk without heads. Else each of several
// flushes waits a tick of the kernel's clock, or more, for others to join it.
func logsAtOnce(root fs.FS, id string) bool {
	m := mountWhere(root, func(m mount) bool { return m.id == id })
	return m.has("ssd") || m.has("ssd_spread")
}

// mountID is the mount id of a directory, "" if the kernel does not tell. The device number of a directory
// on btrfs is its subvolume's, which no mount has.
func mountID(dir int) string {
	var st unix.Statx_t
	err := unix.Statx(dir, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st)
	if err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return ""
	}
	return strconv.FormatUint(st.Mnt_id, 10)
}

// A mount is one line of the kernel's list of mounts.
type mount struct {
	id, device, fstype string
	options            []string // its own, and the file system's
}

func (m mount) has(option string) bool { return slices.Contains(m.options, option) }

// mountWhere is the first mount for which sought is true, one without a name if there is none.
func mountWhere(root fs.FS, sought func(mount) bool) mount {
	table, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return mount{}
	}
	for line := range strings.Lines(string(table)) {
		own, super, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(own), strings.Fields(super)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		m := mount{id: left[0], device: left[2], fstype: right[0], options: strings.Split(left[5]+","+right[2], ",")}
		if sought(m) {
			return m
		}
	}
	return mount{}
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
