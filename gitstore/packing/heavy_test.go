package packing_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// Few objects are worth a pack if they are large, but objects that a Pack has left do not count.
func TestHeavy(t *testing.T) {
	f := newField(t)
	began := time.Now()
	require.False(t, f.Heavy(began))
	path := filepath.Join(f.dir, ".git/objects/00/", string(bytes.Repeat([]byte{'0'}, len(f.git("rev-parse", "HEAD"))-2)))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Truncate(path, 80<<20))
	require.True(t, f.Heavy(began))
	require.NoError(t, os.Chtimes(path, time.Time{}, began.Add(-time.Hour)))
	require.False(t, f.Heavy(began), "this command wrote little")
	_, err := f.Pack(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(path, time.Time{}, began))
	require.False(t, f.Heavy(began), "it is nothing of a conversation's")
	require.NoError(t, os.Remove(path))
}

// Packs of versions of one large file become one, in which most of the file is once.
func TestLargePacksAreMerged(t *testing.T) {
	f := newField(t)
	random := rand.NewChaCha8([32]byte{})
	content := make([]byte, 17<<20)
	_, _ = random.Read(content)
	const id = "jp-c17528832001-aaaa"
	head := odb.OID("")
	for i := range 3 {
		content[i<<20] ^= 1
		blob := object("blob", string(content))
		name, err := hex.DecodeString(string(blob.OID))
		require.NoError(t, err)
		tree := object("tree", "100644 f\x00"+string(name))
		parent := ""
		if head != "" {
			parent = "parent " + string(head) + "\n"
		}
		commit := object("commit", fmt.Sprintf("tree %s\n%sauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\njp-data {\"seq\":%d}\n\n", tree.OID, parent, i))
		require.NoError(t, f.store.Write(t.Context(), odb.Batch{
			Objects: []odb.Object{blob, tree, commit}, Updates: []odb.RefUpdate{{Ref: "refs/jp/conversations/" + id, Old: head, New: commit.OID}},
		}))
		head, f.heads[id] = commit.OID, commit.OID
		_, err = f.Pack(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, f.packs())
		f.whole()
	}
	_, size := f.Packs()
	require.Less(t, size.Bytes, int64(18<<20))
}
