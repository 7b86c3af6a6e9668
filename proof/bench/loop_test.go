package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mounts is how many file systems are mounted below a folder, and how many loop
// devices stand on its files.
func mounts(t *testing.T, dir string) (mounted, devices int) {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	out, err := exec.Command("losetup", "--list", "--noheadings", "--output", "BACK-FILE").Output()
	require.NoError(t, err)
	return strings.Count(string(table), " "+dir+"/"), strings.Count(string(out), dir+"/")
}

// TestNothingStaysMounted needs root and loop devices.
func TestNothingStaysMounted(t *testing.T) {
	b := testBench(t)
	for _, system := range fileSystems {
		t.Run(system.name, func(t *testing.T) {
			dir, release, err := b.mountImage(t.Context(), system)
			if err != nil {
				require.NoError(t, release())
				// Mounting is root's, and some machines have no loop devices.
				t.Skip("no image can be mounted here: ", err)
			}
			mounted, devices := mounts(t, b.scratch)
			require.Equal(t, []int{1, 1}, []int{mounted, devices})
			busy, err := os.Create(filepath.Join(dir, "open")) // as of a killed program that is still running
			require.NoError(t, err)
			defer busy.Close()
			require.NoError(t, release())
			mounted, _ = mounts(t, b.scratch)
			require.Zero(t, mounted)
		})
	}
}

func TestAnInterruptedMountIsUndone(t *testing.T) {
	b := testBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &report{}
	require.ErrorIs(t, b.measureOnImage(ctx, r, fileSystems[0]), context.Canceled)
	require.Empty(t, r.Rows)
}

func TestAFileSystemThatCannotBeMadeIsANote(t *testing.T) {
	b := testBench(t)
	require.NoError(t, b.measureOnImage(t.Context(), &report{}, fileSystem{name: "odd", make: []string{"/absent/mkfs"}}))
	require.Len(t, b.notes, 1)
	require.Contains(t, b.notes[0], "odd: skipped: ")
}
