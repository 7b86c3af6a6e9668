package reconcile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/reconcile"
)

func TestWords(t *testing.T) {
	h := begun(t)
	seqs := h.call(t, "fs_read_file", "shell_run", "shell_run", "lost_tool", "shell_run")
	h.start(t, seqs[0])
	h.start(t, seqs[1])
	r := h.record(t, "")
	now := truth(r)
	require.Equal(t, "resumed after 2 h: files as recorded; fs_read_file runs again; shell_run of unknown outcome; shell_run not started (2 times); lost_tool is no tool here",
		reconcile.Make(r, now, nil).Words)

	now.Changed = []conversation.PathStat{{Path: "a.go", Status: "D", Deleted: 3}}
	now.Alive = map[int]bool{seqs[1]: true}
	now.Now = r.At.Add(90 * time.Second)
	require.Contains(t, reconcile.Make(r, now, nil).Words, "resumed after 90 s: a.go deleted; fs_read_file runs again; shell_run still running; ")
}

// A file that the user put back after the newest event of the dialogue is news to the model, although it is
// on record.
func TestPutBackFilesAreNews(t *testing.T) {
	h := begun(t)
	h.respond(t, h.call(t, "fs_modify_file")[0])
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddRecord(&conversation.Restored{AsOf: 0, Files: []conversation.RestoredFile{{Path: "a.go", Done: true}}}, conversation.WithTree(treeB))
	})
	r := h.record(t, "")
	now := truth(r)
	now.Tree, now.Changed = treeB, []conversation.PathStat{{Path: "a.go", Status: "M", Deleted: 1}}
	require.Equal(t, treeA, r.Unanswered[0].From.Tree)
	require.Contains(t, reconcile.Make(r, now, nil).Resumed.Message, `M "a.go" +0 -1`)
}
