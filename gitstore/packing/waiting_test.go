package packing_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/packing"
)

// Waiting counts exactly the objects that the next Pack takes: none of the user's, none that two
// conversations share twice, none that is packed.
func TestWaitingIsWhatPackTakes(t *testing.T) {
	f := newField(t)
	f.git("commit", "-q", "--allow-empty", "-m", "loose, and the user's")
	waiting, err := f.Waiting(t.Context())
	require.NoError(t, err)
	require.Zero(t, waiting)
	for range 3 {
		f.grow("jp-c17636736000", 7)
		f.grow("jp-c17636736001", 2)
		f.git("update-ref", "refs/jp/conversations/jp-c17636736002", string(f.heads["jp-c17636736000"])+"~1")
		waiting, err := f.Waiting(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3*9, waiting.Objects)
		require.Positive(t, waiting.Bytes)
		done, err := f.Pack(t.Context())
		require.NoError(t, err)
		require.Equal(t, waiting.Objects, done.Packed)
	}
	packs, size := f.Packs()
	require.Equal(t, 1, packs, "they have become one")
	require.Equal(t, 3*3*9, size.Objects)
	require.Positive(t, size.Bytes)
}

// A chain that cannot be followed to its end is an error.
func TestWaitingOfWhatIsDamaged(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17636736000", 2)
	tree := f.git("rev-parse", string(f.heads["jp-c17636736000"])+"^{tree}")
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", tree[:2], tree[2:])))
	_, err := f.Waiting(t.Context())
	require.ErrorContains(t, err, "count loose objects")
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	f := newField(t)
	f.grow("jp-c17636736000", 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	waiting, err := f.Waiting(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, packing.Size{}, waiting)
}
