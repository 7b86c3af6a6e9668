package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// The objects of one side must be new after the other's writes.
func TestAppendSidesWriteTheirOwnObjects(t *testing.T) {
	b := testBench(t)
	repo, err := b.newRepo(t.Context(), b.scratch)
	require.NoError(t, err)
	store, err := openStore(repo, odb.Off)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	one, err := b.appendSide(t.Context(), store, appendOne, 1)
	require.NoError(t, err)
	five, err := b.appendSide(t.Context(), store, appendFive, group)
	require.NoError(t, err)
	for _, s := range []side{one, one, one, one, one, five} {
		require.NoError(t, s.prepare())
		require.NoError(t, s.run(t.Context()))
	}
	commits, err := git(t.Context(), repo.TopLevel, "rev-list", "--count", "--all")
	require.NoError(t, err)
	require.Equal(t, "14", commits, "two that a side begins with, and five")
}
