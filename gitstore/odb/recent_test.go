package odb

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// batchOf is a batch of n objects of some size that a ref names.
func batchOf(n, size int) Batch {
	b := Batch{Updates: []RefUpdate{{Ref: "refs/jp/x"}}}
	for i := range n {
		data := make([]byte, size)
		copy(data, fmt.Sprint(i))
		b.Objects = append(b.Objects, Object{Kind: "blob", OID: HashObject(testFormat, "blob", data), Data: data})
	}
	return b
}

func TestRecentObjectsAreBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := &Store{opts: Options{Now: func() time.Time { return now }}}
	for range 10 {
		s.remember(batchOf(100, 10))
	}
	require.Len(t, s.recent.objects, keepObjects)
	require.Equal(t, 10*keepObjects, s.recent.bytes)

	s.remember(batchOf(5, 1<<20))
	require.LessOrEqual(t, s.recent.bytes, keepBytes)
	require.NotEmpty(t, s.recent.objects)

	now = now.Add(keepRecent + time.Second)
	s.remember(batchOf(1, 10))
	require.Len(t, s.recent.objects, 1)
	require.Equal(t, 10, s.recent.bytes)

	s.remember(Batch{Objects: batchOf(1, 10).Objects})
	require.Len(t, s.recent.objects, 1, "an object without a ref is nobody's")
}

func TestRecentObjectsAreLookedForNowAndThen(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := &Store{opts: Options{Now: func() time.Time { return now }}}
	s.remember(batchOf(2, 10))
	require.Empty(t, s.recent.due(now, false))
	require.Len(t, s.recent.due(now, true), 2)
	require.Empty(t, s.recent.due(now.Add(recheckEvery-1), false))
	require.Len(t, s.recent.due(now.Add(recheckEvery), false), 2)
	require.Empty(t, s.recent.due(now.Add(recheckEvery+1), false))
}
