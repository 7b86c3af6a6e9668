package odb

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

type closed struct {
	File
	n *atomic.Int32
}

func (c closed) Close() error {
	c.n.Add(1)
	return nil
}

func TestReplacedFilesAreClosed(t *testing.T) {
	for path, open := range map[Path]int{PathOrdered: maxReplaced - 1, PathStepwise: 0} {
		var n atomic.Int32
		var r replacedFiles
		for i := range 10*maxReplaced - 1 {
			r.add(closed{n: &n}, path)
			require.Less(t, len(r.open), maxReplaced, "after %d", i)
		}
		require.Len(t, r.open, open)
		r.close()
		require.Equal(t, int32(10*maxReplaced-1), n.Load())
	}
}
