package process_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
)

func TestHeldAmong(t *testing.T) {
	l := locks(t)
	ids := []conversation.ID{"jp-c17952552001-a1b2", "jp-c17952552002-a1b2", "jp-c17952552003-a1b2"}
	require.Empty(t, l.HeldAmong(ids), "no process has held one")
	free, err := l.Take(ids[0], holder())
	require.NoError(t, err)
	require.NoError(t, free.Release())
	held, err := l.Take(ids[2], holder())
	require.NoError(t, err)
	require.Equal(t, ids[2:], l.HeldAmong(ids))
	require.Empty(t, l.HeldAmong(ids[:2]))
	require.NoError(t, held.Release())
	require.Empty(t, l.HeldAmong(ids))
}

func TestLastTaken(t *testing.T) {
	l := locks(t)
	require.Zero(t, l.LastTaken(), "there is no folder")
	take := func() {
		lock, err := l.Take(id, process.Holder{})
		require.NoError(t, err)
		require.NoError(t, lock.Release())
	}
	take()
	require.Zero(t, l.LastTaken(), "that was just now")
	then := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(l.Dir, then, then))
	require.True(t, then.Equal(l.LastTaken()))
	l.HeldAmong([]conversation.ID{id})
	require.True(t, then.Equal(l.LastTaken()), "looking takes none")
	take() // the file is there already
	require.Zero(t, l.LastTaken())
}
