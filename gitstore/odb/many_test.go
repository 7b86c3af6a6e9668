package odb_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// manyObjects is a chain of more commits than are written at once, oldest first.
func manyObjects() []odb.Object {
	objects := []odb.Object{emptyTree}
	parent := odb.OID("")
	for i := range 1300 {
		c := commit(parent, fmt.Sprint("many ", i))
		objects, parent = append(objects, c), c.OID
	}
	return objects
}

// TestManyObjects writes more than may have a file open at once, and counts those
// that have.
func TestManyObjects(t *testing.T) {
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		// Only Linux lists them there; the writes are the same elsewhere.
		t.Skip("the open files cannot be counted here: ", err)
	}
	repo := newRepo(t)
	s := open(t, repo, odb.Options{Format: testFormat})
	objects := manyObjects()
	last := objects[len(objects)-1].OID
	done, most := make(chan struct{}), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
				most = max(most, len(entries))
			}
		}
	})
	err := s.Write(bg, odb.Batch{Objects: objects, Updates: []odb.RefUpdate{{Ref: ref, New: last}}})
	close(done)
	wg.Wait()
	require.NoError(t, err)
	require.Less(t, most, 900)
	require.Len(t, history(t, repo), 1300)
	requireSound(t, repo)
}

// TestManyObjectsBesidePrune has git prune unreferenced objects during the write, less often than a write
// tries again. All of them are there when the ref is.
func TestManyObjectsBesidePrune(t *testing.T) {
	repo := newRepo(t)
	s := open(t, repo, withGit(repo))
	create(t, s, "refs/jp/conversations/other", 1)
	objects := manyObjects()
	beside(t, repo, 60, []string{"prune", "--expire=now"}, func() {
		require.NoError(t, s.Write(bg, odb.Batch{Objects: objects, Updates: []odb.RefUpdate{{Ref: ref, New: objects[len(objects)-1].OID}}}))
	})
	require.NoError(t, s.Close())
	require.Len(t, history(t, repo), 1300)
	requireSound(t, repo)
}
