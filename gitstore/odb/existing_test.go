package odb_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/faultfs"
)

// survives cuts the power many times and reads the objects each time.
func survives(t *testing.T, disk *faultfs.Disk, objects []odb.Object) {
	t.Helper()
	for seed := range uint64(60) {
		s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk.Crash(rand.New(rand.NewPCG(3, seed)))})
		require.NoError(t, err)
		requireReads(t, s, objects)
		require.NoError(t, s.Close())
	}
}

func eachDisk(t *testing.T, run func(t *testing.T, disk *faultfs.Disk)) {
	for name, journal := range map[string]bool{"journal": true, "no journal": false} {
		t.Run(name, func(t *testing.T) {
			run(t, faultfs.NewDisk(journal, "/repo/objects", "/repo/refs/jp"))
		})
	}
}

func write(t *testing.T, disk *faultfs.Disk, durability odb.Durability, b odb.Batch) {
	t.Helper()
	s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk, Durability: durability})
	require.NoError(t, err)
	require.NoError(t, s.Write(bg, b))
	require.NoError(t, s.Close())
}

func TestObjectsWithoutARefAreDurable(t *testing.T) {
	eachDisk(t, func(t *testing.T, disk *faultfs.Disk) {
		objects := []odb.Object{blob("a"), blob("b"), emptyTree}
		write(t, disk, odb.Full, odb.Batch{Objects: objects})
		survives(t, disk, objects)
	})
}

// An object that another writer has left in the cache only is made durable
// before it counts as written.
func TestExistingObjectsBecomeDurable(t *testing.T) {
	for _, withRef := range []bool{true, false} {
		eachDisk(t, func(t *testing.T, disk *faultfs.Disk) {
			objects := append([]odb.Object{emptyTree}, chain("", 3, "x")...)
			write(t, disk, odb.Off, odb.Batch{Objects: objects})
			b := odb.Batch{Objects: objects}
			if withRef {
				b = appendBatch(ref, "", objects)
			}
			write(t, disk, odb.Full, b)
			survives(t, disk, objects)
		})
	}
}

// The same for a directory of refs that another writer has made.
func TestExistingDirectoriesBecomeDurable(t *testing.T) {
	eachDisk(t, func(t *testing.T, disk *faultfs.Disk) {
		first := append([]odb.Object{emptyTree}, chain("", 1, "first")...)
		write(t, disk, odb.Off, appendBatch("refs/jp/conversations/first", "", first))
		second := append([]odb.Object{emptyTree}, chain("", 1, "second")...)
		write(t, disk, odb.Full, appendBatch(ref, "", second))
		for seed := range uint64(60) {
			s, err := odb.Open("/repo", odb.Options{Format: testFormat, FS: disk.Crash(rand.New(rand.NewPCG(4, seed)))})
			require.NoError(t, err)
			got, err := s.ReadRef(ref)
			require.NoError(t, err)
			require.Equal(t, tip(second), got)
			requireReads(t, s, second)
		}
	})
}
