package main

import (
	"io/fs"
	"os/exec"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestMountOf(t *testing.T) {
	if _, err := exec.LookPath("findmnt"); err != nil {
		// It comes with Linux.
		t.Skip("findmnt is not here")
	}
	m, err := mountOf("/proc/self")
	require.NoError(t, err)
	require.Equal(t, "/proc", m.Target)
	require.Equal(t, "proc", m.FSType)
	require.NotEmpty(t, m.Device)
	require.Contains(t, m.Options, "rw")
	_, err = mountOf("/absent/folder")
	require.Error(t, err)
}

func TestJournalOf(t *testing.T) {
	root := fstest.MapFS{
		"sys/dev/block/254:0":       {Mode: fs.ModeSymlink, Data: []byte("../../devices/vda")},
		"proc/fs/ext4/vda/options":  {Data: []byte("rw\nbarrier\n")},
		"sys/dev/block/8:1":         {Mode: fs.ModeSymlink, Data: []byte("../../devices/sda/sda1")},
		"proc/fs/ext4/sda1/options": {Data: []byte("rw\ndata=ordered\n")},
	}
	tests := []struct{ fstype, device, options, want string }{
		{"ext4", "254:0", "rw", "no"},
		{"ext4", "8:1", "rw", "yes (data=ordered)"},
		{"ext4", "9:9", "rw", "unknown"},
		{"xfs", "7:0", "rw", "yes"},
		{"tmpfs", "0:22", "rw", "no"},
		{"btrfs", "0:40", "rw,space_cache=v2", "copy on write"},
		{"btrfs", "0:40", "rw,ssd,space_cache=v2", "copy on write (ssd)"},
		{"fuse.sshfs", "0:50", "rw", "unknown"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, journalOf(root, mount{FSType: tt.fstype, Device: tt.device, Options: tt.options}), tt)
	}
}

func TestLoadAverage(t *testing.T) {
	require.Equal(t, "2.16", loadAverage(fstest.MapFS{"proc/loadavg": {Data: []byte("2.16 1.90 1.70 1/200 4242\n")}}))
	require.Empty(t, loadAverage(fstest.MapFS{}))
}
