package gitstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/journaltest"
)

// TestALockThatAKillLeftIsTakenOver leaves the lock of either ref that an event
// with payload moves.
func TestALockThatAKillLeftIsTakenOver(t *testing.T) {
	for name, ref := range map[string]string{"the conversation": refs + string(journaltest.ID(1)), "its payload": payloadRef(1)} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			head := f.create(1, []*conversation.Event{attached(0, "a", []byte("one"))})
			lock := filepath.Join(f.dir, ".git", ref+".lock")
			require.NoError(t, os.WriteFile(lock, nil, 0o666))
			long := time.Now().Add(-time.Minute)
			require.NoError(t, os.Chtimes(lock, long, long))
			mine := openStore(t, f.dir, gitstore.Options{
				Durability: odb.Off, MayBreakLock: func(id conversation.ID) bool { return id == journaltest.ID(1) },
			})
			_, err := mine.Append(t.Context(), journaltest.ID(1), head, []*conversation.Event{attached(1, "b", []byte("two"))})
			require.NoError(t, err)
			require.NoFileExists(t, lock)
		})
	}
}
