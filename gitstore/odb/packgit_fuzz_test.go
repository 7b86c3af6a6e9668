package odb_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// Objects that git packs, with deltas, read the same from the pack as before, and as git reads them.
func FuzzPackedByGit(f *testing.F) {
	f.Add([]byte("one line\nand another\n"), []byte{3, 200, 7}, byte(4))
	f.Add(bytes.Repeat([]byte("a longer text that deltas like\n"), 300), []byte{0, 255, 17, 40}, byte(9))
	f.Add([]byte(nil), []byte{1}, byte(2))
	f.Fuzz(func(t *testing.T, data, edits []byte, n byte) {
		repo := newRepo(t)
		objects := versions(data, edits, int(n%12)+1)
		last := commit("", string(data))
		tree := treeOf(t, objects)
		last.Data = bytes.Replace(last.Data, []byte(emptyTree.OID), []byte(tree.OID), 1)
		last = object("commit", last.Data)
		all := append(objects, tree, last)
		writer := open(t, repo, odb.Options{Format: testFormat, Durability: odb.Off})
		require.NoError(t, writer.Write(bg, odb.Batch{Objects: all, Updates: []odb.RefUpdate{{Ref: ref, New: last.OID}}}))
		git(t, repo, "repack", "-adfq", "--depth=50", "--window=50")
		loose, err := filepath.Glob(filepath.Join(repo, ".git/objects/??/*"))
		require.NoError(t, err)
		require.Empty(t, loose)
		s := open(t, repo, odb.Options{Format: testFormat})
		for _, o := range all {
			kind, got, err := s.ReadObject(o.OID)
			require.NoError(t, err)
			require.Equal(t, o.Kind, kind)
			require.True(t, bytes.Equal(o.Data, got))
		}
	})
}

// versions are blobs that grow out of one another by small edits.
func versions(data, edits []byte, n int) (blobs []odb.Object) {
	for i := range n {
		at := 0
		if len(edits) > 0 && len(data) > 0 {
			at = int(edits[i%len(edits)]) * len(data) / 256
		}
		data = bytes.Join([][]byte{data[:at], {byte(i), '\n'}, edits, data[at:]}, nil)
		blobs = append(blobs, blob(string(data)))
	}
	return blobs
}

// treeOf is a tree of blobs, named by letters.
func treeOf(t *testing.T, blobs []odb.Object) odb.Object {
	var b bytes.Buffer
	for i, o := range blobs {
		b.WriteString("100644 " + string(rune('a'+i)) + "\x00")
		b.Write(rawOID(t, o.OID))
	}
	return object("tree", b.Bytes())
}
