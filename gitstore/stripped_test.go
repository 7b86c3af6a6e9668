package gitstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/testing/journaltest"
)

func TestStrippedMessages(t *testing.T) {
	t.Setenv("FILTER_BRANCH_SQUELCH_WARNING", "1")
	for name, c := range map[string]struct {
		rewrite func(f *fixture, events []*conversation.Event)
		from    int // the first of the events whose headers are gone
	}{
		"filter-branch": {func(f *fixture, _ []*conversation.Event) { f.git("filter-branch", "-f", "--msg-filter", "cat", "copy") }, 0},
		"rebase": {func(f *fixture, e []*conversation.Event) {
			f.git("-c", "rebase.backend=merge", "rebase", "-q", "--no-ff", "--reapply-cherry-picks", "--empty=keep", e[0].Commit, "copy")
		}, 1},
		"cherry-pick": {func(f *fixture, e []*conversation.Event) {
			f.git("checkout", "-q", "--detach", e[1].Commit)
			f.git("cherry-pick", "--allow-empty", e[1].Commit+"..copy")
			f.git("branch", "-f", "copy", "HEAD")
		}, 2},
		"none": {func(*fixture, []*conversation.Event) {}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			events := journaltest.Turn(t, "first", "answer")
			head, err := f.Create(t.Context(), journaltest.ID(1), f.git("rev-parse", "HEAD"), events)
			require.NoError(t, err)
			f.git("branch", "copy", string(head))
			c.rewrite(f, events)
			got := gitstore.StrippedMessages(t.Context(), f.ReadObject, conversation.Head(f.git("rev-parse", "copy")))
			require.Len(t, got, len(events)-min(c.from, len(events)))
			for i, m := range got {
				e := events[c.from+i]
				require.Equal(t, e.Type(), m.Type)
				require.Equal(t, e.Seq, m.Seq)
				require.Contains(t, m.Text, e.Subject)
				require.NotContains(t, m.Text, "Jp-")
			}
		})
	}
}

// The project's own history below event 0 is no part of it, even if its messages look alike.
func TestStrippedMessagesEnd(t *testing.T) {
	f := newFixture(t)
	commit := func(parent, message string) string {
		args := []string{"commit-tree", "-m", message, f.git("rev-parse", "HEAD^{tree}")}
		if parent != "" {
			args = append(args, "-p", parent)
		}
		return f.git(args...)
	}
	trailer := func(seq string) string { return "text\n\nJp-Event: chat_request\nJp-Turn: 1\nJp-Seq: " + seq }
	below := commit("", trailer("7"))
	first := commit(below, trailer("0"))
	odd := commit(first, trailer("-4\n\xff"))
	plain := commit(commit(below, "mine"), trailer("9"))
	for head, want := range map[string][]int{odd: {0, -1}, plain: {9}, below: {7}, commit(below, "mine"): nil, "": nil, f.git("rev-parse", "HEAD^{tree}"): nil} {
		var got []int
		for _, m := range gitstore.StrippedMessages(t.Context(), f.ReadObject, conversation.Head(head)) {
			got = append(got, m.Seq)
		}
		require.Equal(t, want, got)
	}
}
