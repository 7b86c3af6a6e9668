package odb

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// system are the /proc and /sys of a machine with one file system.
func system(mount, options, task string) fstest.MapFS {
	return fstest.MapFS{
		"proc/self/mountinfo":           {Data: []byte("20 1 0:5 / /proc rw - proc proc rw\n" + mount)},
		"sys/dev/block/8:1":             {Mode: fs.ModeSymlink, Data: []byte("../../devices/pci0/block/sda/sda1")},
		"proc/fs/ext4/sda1/options":     {Data: []byte(options)},
		"sys/fs/ext4/sda1/journal_task": {Data: []byte(task)},
	}
}

const (
	ext4Mount = "30 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	xfsMount  = "30 1 8:1 / / rw,relatime - xfs /dev/sda1 rw,noquota\n"
	journaled = "rw\nbarrier\ndata=ordered\n"
)

func TestOrderedMount(t *testing.T) {
	tests := []struct {
		name  string
		magic int64
		sys   fstest.MapFS
		want  bool
	}{
		{"ext4 with a journal", magicExt, system(ext4Mount, journaled, "312\n"), true},
		{"ext4 without a journal", magicExt, system(ext4Mount, "rw\nbarrier\n", "<none>\n"), false},
		{"a data mode but no journal task", magicExt, system(ext4Mount, journaled, "<none>\n"), false},
		{"a journal task but no data mode", magicExt, system(ext4Mount, "rw\n", "312\n"), false},
		{"no barriers", magicExt, system(ext4Mount, journaled+"nobarrier\n", "312\n"), false},
		{"no barriers by mount option", magicExt, system("30 1 8:1 / / rw,barrier=0 - ext4 /dev/sda1 rw\n", journaled, "312\n"), false},
		{"ext3 by the same driver", magicExt, system("30 1 8:1 / / rw - ext3 /dev/sda1 rw\n", journaled, "312\n"), false},
		{"xfs", magicXFS, system(xfsMount, "", ""), true},
		{"xfs without barriers", magicXFS, system("30 1 8:1 / / rw - xfs /dev/sda1 rw,nobarrier\n", "", ""), false},
		{"btrfs", 0x9123683e, system("30 1 8:1 / / rw - btrfs /dev/sda1 rw\n", "", ""), false},
		{"another device", magicExt, system("30 1 8:2 / / rw - ext4 /dev/sda2 rw\n", journaled, "312\n"), false},
		{"nothing to read", magicExt, fstest.MapFS{}, false},
		{"nothing to read on xfs", magicXFS, fstest.MapFS{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, orderedMount(tt.sys, tt.magic, "8:1"))
		})
	}
}

func TestLogsAtOnce(t *testing.T) {
	const others = "28 1 0:21 / /a rw - btrfs /dev/sdb1 rw,ssd\n29 1 0:22 / /b rw - btrfs /dev/sdc1 rw\n"
	line := func(options string) string {
		return "31 1 0:25 /sub / rw,relatime shared:1 - btrfs /dev/sda1 " + options + "\n"
	}
	tests := []struct {
		name, mounts, id string
		want             bool
	}{
		{"a disk with heads, or what says that it is one", others + line("rw,discard=async,space_cache=v2"), "31", false},
		{"a disk without heads", others + line("rw,ssd,discard=async"), "31", true},
		{"spread", line("rw,ssd_spread"), "31", true},
		{"switched off", line("rw,nossd"), "31", false},
		{"another mount", others, "31", false},
		{"a kernel that does not number mounts", others + line("rw,ssd"), "", false},
		{"nothing to read", "", "31", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, logsAtOnce(system(tt.mounts, "", ""), tt.id))
		})
	}
}
