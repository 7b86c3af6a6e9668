package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/internal/testing/front"
	"jp/process"
)

// TestBusy varies the person's choice about a conversation that another process holds.
func TestBusy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		keys   []rune
		free   bool // the other process releases it when the person is asked
		settle bool // the request only resumes
		wrong  string
		hint   string
		asked  string // the place of the question: "", "here", "fork" or "new"
	}{
		{name: "nobody is there", wrong: "is locked by", hint: "jp query --fork"},
		{name: "nobody is there to resume", settle: true, wrong: "is locked by"},
		{name: "a fork", keys: []rune{'f'}, asked: "fork"},
		{name: "a new conversation", keys: []rune{'n'}, asked: "new"},
		{name: "leave by a key", keys: []rune{'q'}, wrong: "Your question is kept."},
		{name: "leave", keys: []rune{'L'}, wrong: "Your question is kept."},
		{name: "no terminal any more", keys: []rune{'G'}, wrong: "Your question is kept."},
		{name: "it comes free", keys: []rune{'-'}, free: true, asked: "here"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			require.NoError(t, s.Ask(f, s.Request(says, "First")))
			id := f.Last().ID
			r := s.Open()
			defer r.Close()
			s.Await(r, id)
			held, err := r.Locks.Take(id, process.Holder{PID: 1, Session: "other"})
			require.NoError(t, err)
			if row.keys != nil {
				f.Person = chooses(row.keys...)
				f.Person.Waits = func() {
					if row.free {
						require.NoError(t, held.Release())
					}
				}
			}
			request := front.Next(id, "Second")
			request.Turn.Model = s.Model(says)
			if row.settle {
				request = front.Resume(id)
			}
			err = agent.Ask(t.Context(), r, request, f)
			if !row.free {
				require.NoError(t, held.Release())
			}
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Contains(t, hints(err), row.hint)
				require.Equal(t, !row.settle, strings.Contains(hints(err), "jp query"), "a turn is resumed nowhere else")
				return
			}
			require.NoError(t, err)
			want := map[string][]string{"here": {"First", "Second"}, "fork": {"First", "Second"}, "new": {"Second"}}[row.asked]
			require.Equal(t, want, requests(s.Load(f.Last().ID)))
			require.Equal(t, row.asked == "here", f.Last().ID == id)
		})
	}
}
