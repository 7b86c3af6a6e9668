package usage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/safefile"
)

// A counted store has conversations of so many calls, by their heads, and counts its reads.
type counted struct {
	calls map[conversation.Head]int
	read  int
}

func (s *counted) Load(_ context.Context, head conversation.Head) (events []*conversation.Event, err error) {
	s.read++
	for i := range s.calls[head] {
		e := answer(i, 0, "a/m", &conversation.Usage{Input: 100})
		e.Commit = fmt.Sprint(head, i)
		events = append(events, e)
	}
	return events, nil
}

// TestConversationsAreReadOnce reads conversations with few and with many calls until a head moves, a file was changed, or the
// conversation was forgotten.
func TestConversationsAreReadOnce(t *testing.T) {
	store := &counted{calls: map[conversation.Head]int{"few": 2, "none": 0, "many": fewCalls + 1, "more": fewCalls + 2}}
	own := safefile.StateDir{GitDir: t.TempDir(), Key: func() ([]byte, error) { return []byte("key"), nil }}
	infos := []conversation.Info{{ID: "jp-c1", Head: "few"}, {ID: "jp-c2", Head: "none"}, {ID: "jp-c3", Head: "many"}}
	read := func(want, calls int) {
		t.Helper()
		store.read = 0
		found, _, err := CachedReader{Store: store, Own: own, Step: func() {}}.Read(t.Context(), infos, time.Time{})
		require.NoError(t, err)
		require.Equal(t, []int{want, calls}, []int{store.read, len(found)})
	}
	files := func() string {
		entries, err := os.ReadDir(filepath.Join(own.GitDir, "jp", CacheFolder))
		require.NoError(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	read(3, fewCalls+3)
	read(0, fewCalls+3)
	require.Equal(t, "jp-c3.json shared.json", files())
	infos[0].Head = "more" // it has grown
	read(1, 2*fewCalls+3)
	read(0, 2*fewCalls+3)
	require.Equal(t, "jp-c1.json jp-c3.json shared.json", files())
	infos[0].Head = "few" // and was set back
	read(1, fewCalls+3)
	read(0, fewCalls+3)
	require.Equal(t, "jp-c3.json shared.json", files())
	Forget(own, "jp-c1")
	Forget(own, "jp-c3")
	require.Equal(t, "shared.json", files())
	read(2, fewCalls+3)
	path := filepath.Join(own.GitDir, "jp", CacheFolder, sharedFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "100", "900", 1)), 0o600))
	read(2, fewCalls+3)
	infos = infos[1:] // one is gone
	read(0, fewCalls+1)
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), "jp-c1")
}
