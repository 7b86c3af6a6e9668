package main

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const mountTable = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 0:22 / /dev/shm rw - tmpfs tmpfs rw,size=1k
25 22 7:0 / /mnt/my\040disk rw shared:9 master:2 - xfs /dev/loop0 rw,noquota
26 22 8:1 / /home rw - ext4 /dev/sda1 rw
27 26 0:40 /sub /home rw - btrfs /dev/sdb rw,subvol=/sub
a line of another kind
`

func TestMountOf(t *testing.T) {
	tests := []struct{ dir, fstype, device, options string }{
		{"/tmp/x", "ext4", "254:0", "rw,discard"},
		{"/", "ext4", "254:0", "rw,discard"},
		{"/dev/shm", "tmpfs", "0:22", "rw,size=1k"},
		{"/dev/shmother", "ext4", "254:0", "rw,discard"},
		{"/mnt/my disk/repo", "xfs", "7:0", "rw,noquota"},
		{"/home/ada", "btrfs", "0:40", "rw,subvol=/sub"},
	}
	for _, tt := range tests {
		t.Run(tt.dir, func(t *testing.T) {
			m, ok := mountOf(mountTable, tt.dir)
			require.True(t, ok)
			require.Equal(t, tt.fstype, m.fstype)
			require.Equal(t, tt.device, m.device)
			require.Equal(t, tt.options, m.options)
		})
	}
	_, ok := mountOf("", "/tmp")
	require.False(t, ok)
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{`a\040b`: "a b", `\134`: `\`, `end\04`: `end\04`, `\999x`: `\999x`, "": ""} {
		require.Equal(t, want, unescape(in))
	}
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
		require.Equal(t, tt.want, journalOf(root, mount{fstype: tt.fstype, device: tt.device, options: tt.options}), tt)
	}
}

func TestLoadAverage(t *testing.T) {
	require.Equal(t, "2.16", loadAverage(fstest.MapFS{"proc/loadavg": {Data: []byte("2.16 1.90 1.70 1/200 4242\n")}}))
	require.Empty(t, loadAverage(fstest.MapFS{}))
}
