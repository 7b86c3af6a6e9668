package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A disk that cannot be written to is told, and what is in memory only is, too.
func TestDoctorOnAReadOnlyDisk(t *testing.T) {
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Hello").exit)
	disk := small(t, "8m")
	p.git("clone", "-q", "--mirror", "--no-hardlinks", ".", filepath.Join(disk, "repo"))
	p.dir = filepath.Join(disk, "repo")
	full := []string{"--cfg", "store.durability=full"}
	seen := p.examined(full...)
	require.Empty(t, seen.about("writable"))
	require.Contains(t, seen.about("durability"), "warn on tmpfs: everything is gone")
	require.NoError(t, unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""))
	seen = p.examined(full...)
	require.Regexp(t, `^fail .*/repo cannot be written to: read-only file system\. Conversations can be read`, seen.about("writable"))
	require.Equal(t, "ok 1 live, 0 archived, 0 fetched → ", seen.about("conversations"))
	require.Contains(t, seen.about("repository"), "a bare repository")
	p.examined("--fix")
}
