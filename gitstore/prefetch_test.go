package gitstore

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

func TestFirstParent(t *testing.T) {
	a, b := strings.Repeat("a", testFormat.Digits()), strings.Repeat("b", testFormat.Digits())
	for object, want := range map[string]string{
		"":                                  "",
		"tree " + b:                         "",
		"tree " + b + "\nauthor x":          "",
		"tree " + b + "\nparent " + a:       a,
		"tree " + b + "\nparent " + a + "x": "",
		"tree " + b + "\nparent " + a + "\nparent " + b + "\n": a,
		"tree " + b + "\nauthor x\nparent " + a + "\n":         "",
	} {
		require.Equal(t, odb.OID(want), firstParent([]byte(object)), object)
	}
}

// chained writes commits that stand on each other and gives them newest first.
func chained(t *testing.T, s *commitReader, n int, message string) []odb.OID {
	t.Helper()
	var oids []odb.OID
	parent := ""
	for i := range n {
		data := fmt.Appendf(nil, "tree %s\n%sauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n%d%s\n", odb.OID(testFormat.EmptyTree()), parent, i, message)
		o := odb.Object{Kind: "commit", OID: odb.HashObject(testFormat, "commit", data), Data: data}
		require.NoError(t, s.odb.Write(t.Context(), odb.Batch{Objects: []odb.Object{o}}))
		oids = append([]odb.OID{o.OID}, oids...)
		parent = fmt.Sprintf("parent %s\n", o.OID)
	}
	return oids
}

func aheadReader(t *testing.T) *commitReader {
	t.Helper()
	gitenv.Isolate(t)
	dir := t.TempDir()
	gitenv.Git(t, dir, "init", "-q")
	db, err := odb.Open(filepath.Join(dir, ".git"), odb.Options{Format: testFormat, Durability: odb.Off})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return &commitReader{odb: db, mac: &signer{}}
}

func TestReadAheadGivesTheChain(t *testing.T) {
	s := aheadReader(t)
	oids := chained(t, s, 2*aheadBatches*aheadBatch, "")
	a := readAhead(s, oids[0], s.checkName)
	defer a.stop()
	for _, oid := range oids {
		o, ok := a.next(oid)
		require.True(t, ok)
		require.NoError(t, o.err)
		require.Equal(t, odb.HashObject(testFormat, o.kind, o.object), oid)
	}
	_, ok := a.next(oids[0])
	require.False(t, ok)
}

func TestReadAheadEnds(t *testing.T) {
	s := aheadReader(t)
	large := chained(t, s, 2, strings.Repeat("x", aheadLargest))
	a := readAhead(s, large[0], s.checkName)
	_, ok := a.next(large[0])
	require.True(t, ok)
	_, ok = a.next(large[1])
	require.False(t, ok, "a large object was read ahead of")
	a.stop()

	missing := odb.OID(strings.Repeat("a", testFormat.Digits()))
	a = readAhead(s, missing, s.checkName)
	o, ok := a.next(missing)
	require.True(t, ok)
	require.True(t, errors.Is(o.err, odb.ErrObjectMissing))
	a.stop()

	oids := chained(t, s, 2*aheadBatches*aheadBatch, "")
	a = readAhead(s, oids[0], s.checkName)
	_, ok = a.next(oids[5])
	require.False(t, ok, "another object than was asked for")
	a.stop() // while more are being read
	_, more := <-a.batches
	for more {
		_, more = <-a.batches
	}
}

// Each object is made once: by its reader, or for a reader that is behind.
func TestReadAheadMakesForAReaderThatIsBehind(t *testing.T) {
	s := aheadReader(t)
	oids := chained(t, s, 2*aheadBatches*aheadBatch, "")
	var mu sync.Mutex
	made := map[odb.OID]int{}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(made)
	}
	a := readAhead(s, oids[0], func(o stored) odb.OID {
		mu.Lock()
		defer mu.Unlock()
		made[o.oid]++
		return o.oid
	})
	defer a.stop()
	const batch = 1 << aheadBatches // each is twice as large as the one before
	require.Eventually(t, func() bool { return count() == batch }, time.Minute, time.Millisecond)
	require.Len(t, a.batches, aheadBatches)
	for i, oid := range oids {
		got, ok := a.next(oid)
		require.True(t, ok)
		require.Equal(t, oid, got)
		require.GreaterOrEqual(t, count(), i+1)
	}
	require.Len(t, made, len(oids))
	for oid, times := range made {
		require.Equal(t, 1, times, oid)
	}
}
