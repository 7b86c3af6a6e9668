package process_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
)

func TestRecentConversationsAreThoseThatWereTakenLast(t *testing.T) {
	locks := process.Locks{Dir: t.TempDir()}
	require.Empty(t, process.Locks{Dir: filepath.Join(locks.Dir, "none")}.Recent(3))
	ids := []conversation.ID{"jp-c17528832001-aaaa", "jp-c17528832002-bbbb", "jp-c17528832003-cccc"}
	now := time.Now()
	for i, at := range []int{2, 3, 1} {
		lock, err := locks.Take(ids[i], process.Holder{PID: 1})
		require.NoError(t, err)
		require.NoError(t, lock.Release())
		then := now.Add(time.Duration(at) * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(locks.Dir, string(ids[i])+".lock"), then, then))
	}
	for _, other := range []string{"jp-c17528832001-aaaa.4", "x.lock", ".lock"} {
		require.NoError(t, os.WriteFile(filepath.Join(locks.Dir, other), nil, 0o600))
	}
	require.Equal(t, []conversation.ID{ids[1], ids[0], ids[2]}, locks.Recent(9))
	require.Equal(t, []conversation.ID{ids[1]}, locks.Recent(1))
}
