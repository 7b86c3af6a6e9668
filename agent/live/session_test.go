package live_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/live"
	"jp/conversation"
	"jp/internal/safefile"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	own := safefile.StateDir{GitDir: t.TempDir()}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	old, id := conversation.ID("jp-c17646471450-aaaa"), conversation.ID("jp-c17673194450-bbbb")
	require.False(t, live.SessionNoted(own, id))
	require.NoError(t, live.ForgetSession(own, id))
	require.NoError(t, live.NoteSession(own, old, old.Created()))
	require.NoError(t, live.NoteSession(own, id, now))
	require.True(t, live.SessionNoted(own, id))
	require.False(t, live.SessionNoted(own, old), "it is more than 30 days old")
	require.NoError(t, live.ForgetSession(own, id))
	require.False(t, live.SessionNoted(own, id))
}
