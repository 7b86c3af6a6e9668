package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
)

// An import keeps others from the conversation that it makes, before there is one.
func TestImportIntoAConversationThatIsLocked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../first.jsonl", interruptedSession)
	other := newPlace(t)
	id := strings.TrimSpace(other.jp("import", "claude", filepath.Join(p.dir, "..", "first.jsonl")).stdout)
	held, err := process.LocksIn(filepath.Join(p.dir, ".git")).Take(conversation.ID(id), process.Holder{PID: 4711})
	require.NoError(t, err)

	r := p.jp("import", "claude", "../first.jsonl")
	require.Equal(t, 4, r.exit)
	require.Contains(t, r.stderr, "Conversation "+id+" is locked by pid 4711")
	require.Empty(t, r.stdout)
	require.Equal(t, 0, p.jp("import", "claude", "--dry-run", "../first.jsonl").exit)

	require.NoError(t, held.Release())
	require.Equal(t, id+"\n", p.jp("import", "claude", "../first.jsonl").stdout)
}
