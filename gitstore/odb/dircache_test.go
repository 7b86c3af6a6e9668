package odb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// A store that has a directory open sees files that are written there after git has packed its refs,
// removed it, and another process has made it again.
func TestADirectoryMadeAgainIsNotMissed(t *testing.T) {
	repo := newRepo(t)
	reader, writer := open(t, repo, odb.Options{Format: testFormat}), open(t, repo, odb.Options{Format: testFormat})
	head := tip(create(t, reader, ref, 1))
	for range 3 {
		got, err := reader.ReadRef(ref)
		require.NoError(t, err)
		require.Equal(t, head, got)
		git(t, repo, "pack-refs", "--all")
		next := chain(head, 1, "next")
		require.NoError(t, writer.Write(bg, appendBatch(ref, head, next)))
		head = tip(next)
	}
	got, err := reader.ReadRef(ref)
	require.NoError(t, err)
	require.Equal(t, head, got)
}
