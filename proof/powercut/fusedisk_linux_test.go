package powercut_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/proof/powercut"
)

func TestBayHasOneOrder(t *testing.T) {
	if why := lacks(t, powercut.Ext4); why != "" {
		// A FuseDisk is a disk served by FUSE behind a loop device: both are root's.
		t.Skip("a FuseDisk cannot be opened: " + why)
	}
	served, err := powercut.OpenFuseDisk(t.TempDir(), size)
	require.NoError(t, err)
	defer func() { require.NoError(t, served.Close()) }()
	first := powercut.NewDisk(powercut.NewImage(nil))
	served.Insert(first)
	before := first.Record()
	file, err := os.OpenFile(served.DiskPath(), os.O_RDWR, 0)
	require.NoError(t, err)
	defer file.Close()
	marks, err := os.OpenFile(served.MarkPath(), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer marks.Close()

	for _, text := range []string{"one", "two"} {
		_, err = file.WriteAt([]byte(text), 1000)
		require.NoError(t, err)
		_, err = marks.WriteString(text + "\n")
		require.NoError(t, err)
		require.NoError(t, file.Sync())
	}
	log := first.Stop()
	require.Equal(t, []powercut.Mark{{Text: "one", At: 2}, {Text: "two", At: 5}}, log.Marks())
	for at, want := range []string{"\x00\x00\x00", "\x00\x00\x00", "\x00\x00\x00", "one", "one", "one", "two"} {
		image := powercut.NewReplay(before, log).Image(powercut.Cut{At: at})
		require.Equal(t, want, string(content(image)[1000:1003]), "after %d of the log", at)
	}

	served.Insert(powercut.NewDisk(powercut.NewImage(nil)))
	text := make([]byte, 3)
	_, err = file.ReadAt(text, 1000)
	require.NoError(t, err)
	require.Equal(t, "two", string(text), "an open file stays with its disk")
	second, err := os.ReadFile(served.DiskPath())
	require.NoError(t, err)
	require.Equal(t, make([]byte, size), second)
}
