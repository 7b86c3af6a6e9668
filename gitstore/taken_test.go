package gitstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

// TestTaken changes the ref of a conversation by jp and by git. The refs that git deleted have a way back.
func TestTaken(t *testing.T) {
	id := journaltest.ID(1)
	live, archived := refs+string(id), "refs/jp/archive/"+string(id)
	for name, tt := range map[string]struct {
		change func(w *watched, first, second conversation.Head)
		want   bool // it was taken
		gone   bool // doctor misses the conversation
	}{
		"nothing":  {change: func(*watched, conversation.Head, conversation.Head) {}},
		"an event": {change: func(w *watched, _, second conversation.Head) { w.add(second, 2) }},
		"archived": {change: func(w *watched, _, second conversation.Head) {
			e := &conversation.Event{Seq: 2, Turn: 1, Version: 1, Time: time.Unix(1752933600, 0).UTC(), Body: &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{}}}
			_, err := w.Archive(w.t.Context(), id, second, e, true)
			require.NoError(w.t, err)
		}},
		"removed": {change: func(w *watched, _, second conversation.Head) {
			require.NoError(w.t, w.Delete(w.t.Context(), id, second))
		}},
		"packed": {change: func(w *watched, _, _ conversation.Head) { w.git("pack-refs", "--all") }},
		"renamed by git": {change: func(w *watched, _, second conversation.Head) {
			w.git("update-ref", archived, string(second))
			w.git("update-ref", "-d", live)
		}},
		"deleted": {func(w *watched, _, _ conversation.Head) { w.git("update-ref", "-d", live) }, true, true},
		"packed, then deleted": {func(w *watched, _, _ conversation.Head) {
			w.git("pack-refs", "--all")
			w.git("update-ref", "-d", live)
		}, true, true},
		"deleted after an event": {func(w *watched, _, second conversation.Head) {
			w.add(second, 2)
			w.git("update-ref", "-d", live)
		}, true, true},
		"set back": {func(w *watched, first, _ conversation.Head) { w.git("update-ref", live, string(first)) }, true, false},
		"elsewhere": {func(w *watched, _, _ conversation.Head) {
			w.git("update-ref", live, w.git("commit-tree", "-m", "x", emptyTree(w)))
		}, true, false},
		"archived at an older event": {func(w *watched, first, _ conversation.Head) {
			w.git("update-ref", archived, string(first))
			w.git("update-ref", "-d", live)
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t)
			first := w.create(1, say("first"))
			second := w.add(first, 1)
			tt.change(w, first, second)
			s := w.open()
			tip, taken := s.SeenRefs().Taken(live, string(second), w.git("for-each-ref", "--format=%(objectname)", live))
			missing, err := s.SeenRefs().Missing()
			require.NoError(t, err)
			require.Equal(t, tt.gone, len(missing) == 1)
			require.Equal(t, tt.want, taken)
			if !taken {
				return
			}
			if tt.gone {
				require.Equal(t, gitstore.Missing{ID: id, Head: tip, There: true}, missing[0])
			}
			w.git("update-ref", live, string(tip))
			require.NotEqual(t, conversation.StandingRolledBack, w.standing(1))
		})
	}
}

func emptyTree(w *watched) string { return w.git("write-tree") }
