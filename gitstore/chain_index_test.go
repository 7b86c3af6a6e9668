package gitstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/journaltest"
)

// chat makes a conversation of 2n events.
func (f *fixture) chat(id, n int) conversation.Info {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("request ", i)
	}
	return f.told(id, texts...)
}

// from are the numbers of some events from one on, backwards, and its commit.
func (f *fixture) from(of conversation.Info, seq, n int) (seqs []int, commit string, err error) {
	return f.place(of, gitstore.Place{Seq: seq}, n)
}

func (f *fixture) place(of conversation.Info, at gitstore.Place, n int) (seqs []int, commit string, err error) {
	for e, err := range f.BackwardFrom(f.t.Context(), of, at) {
		if err != nil {
			return seqs, commit, err
		}
		if seqs = append(seqs, e.Seq); commit == "" {
			commit = e.Commit
		}
		if len(seqs) == n {
			break
		}
	}
	return seqs, commit, nil
}

func (f *fixture) index(n int) string {
	return filepath.Join(f.cache(), string(journaltest.ID(n))+".index")
}

func TestBackwardFromEveryEvent(t *testing.T) {
	f := newFixture(t)
	info := f.chat(1, 300)
	all := commits(must(f.Load(t.Context(), info.Head)))
	for _, order := range [][]int{{599, 343, 342, 320, 64, 65, 63, 1, 0}, {0, 64, 300, 599}} {
		require.NoError(t, os.RemoveAll(f.cache()))
		for range 2 {
			for _, seq := range order {
				seqs, commit, err := f.again().from(info, seq, 2)
				require.NoError(t, err)
				require.Equal(t, []int{seq, seq - 1}[:min(2, seq+1)], seqs)
				require.Equal(t, all[seq], commit)
			}
		}
		require.FileExists(t, f.index(1))
	}
	for _, seq := range []int{-1, 600} {
		_, _, err := f.from(info, seq, 1)
		require.ErrorIs(t, err, conversation.ErrNotFound)
	}
}

// TestBackwardFromSparesTheMiddle removes the events between an event and the head: with an index the store
// reads none of them.
func TestBackwardFromSparesTheMiddle(t *testing.T) {
	f := newFixture(t)
	info := f.chat(1, 300)
	all := commits(must(f.Load(t.Context(), info.Head)))
	_, _, err := f.from(info, 100, 1)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", all[300][:2], all[300][2:])))
	seqs, _, err := f.again().from(info, 100, 1)
	require.NoError(t, err)
	require.Equal(t, []int{100}, seqs)
	require.NoError(t, os.Remove(f.index(1)))
	_, _, err = f.again().from(info, 100, 1)
	require.Error(t, err)
}

// TestBackwardFromEveryTurn looks for turns, without an index and with one, and with an object
// missing between the turn and the head.
func TestBackwardFromEveryTurn(t *testing.T) {
	f := newFixture(t)
	info := f.chat(1, 400)
	events := must(f.Load(t.Context(), info.Head))
	check := func(turn int) {
		t.Helper()
		seqs, commit, err := f.again().place(info, gitstore.Place{Turn: turn}, 2)
		require.NoError(t, err, turn)
		require.Equal(t, []int{2*turn - 1, 2*turn - 2}, seqs)
		require.Equal(t, events[2*turn-1].Commit, commit)
	}
	for _, turn := range []int{1, 400, 399, 280, 200, 33, 32, 2} {
		require.NoError(t, os.RemoveAll(f.cache()))
		check(turn)
		check(turn)
	}
	for _, turn := range []int{-1, 401} {
		_, _, err := f.place(info, gitstore.Place{Turn: turn}, 1)
		require.ErrorIs(t, err, conversation.ErrNotFound)
	}
	middle := events[450].Commit
	require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", middle[:2], middle[2:])))
	check(33)
	require.NoError(t, os.Remove(f.index(1)))
	_, _, err := f.again().place(info, gitstore.Place{Turn: 33}, 1)
	require.Error(t, err)
}

// TestBackwardFromAnotherHistory has an index of another history, as after a ref was set, or of another
// user.
func TestBackwardFromAnotherHistory(t *testing.T) {
	for name, spoil := range map[string]func(f *fixture, other conversation.Info){
		"of another conversation": func(f *fixture, other conversation.Info) {
			_, _, err := f.from(other, 0, 1)
			require.NoError(f.t, err)
			require.NoError(f.t, os.Rename(f.index(2), f.index(1)))
		},
		"a changed byte": func(f *fixture, _ conversation.Info) {
			data := must(os.ReadFile(f.index(1)))
			data[20] ^= 1
			require.NoError(f.t, os.WriteFile(f.index(1), data, 0o600))
		},
		"cut":   func(f *fixture, _ conversation.Info) { require.NoError(f.t, os.Truncate(f.index(1), 50)) },
		"empty": func(f *fixture, _ conversation.Info) { require.NoError(f.t, os.Truncate(f.index(1), 0)) },
		"a folder": func(f *fixture, _ conversation.Info) {
			require.NoError(f.t, os.Remove(f.index(1)))
			require.NoError(f.t, os.Mkdir(f.index(1), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			info, other := f.chat(1, 300), f.chat(2, 310)
			all := commits(must(f.Load(t.Context(), info.Head)))
			_, _, err := f.from(info, 0, 1)
			require.NoError(t, err)
			spoil(f, other)
			for range 2 {
				for _, seq := range []int{10, 64, 300} {
					_, commit, err := f.again().from(info, seq, 1)
					require.NoError(t, err)
					require.Equal(t, all[seq], commit)
				}
			}
		})
	}
}

// TestBackwardFromFollowsTheRef looks at a conversation that goes on, is set back, and goes
// on in another way.
func TestBackwardFromFollowsTheRef(t *testing.T) {
	f := newFixture(t)
	info := f.chat(1, 200)
	check := func(info conversation.Info) {
		t.Helper()
		all := commits(must(f.Load(t.Context(), info.Head)))
		for seq := 0; seq < len(all); seq += 31 {
			_, commit, err := f.again().from(info, seq, 1)
			require.NoError(t, err)
			require.Equal(t, all[seq], commit)
		}
	}
	check(info)
	events := must(f.Load(t.Context(), info.Head))
	appended := func(info conversation.Info, n int, text string) conversation.Info {
		more := []*conversation.Event{}
		for i := range n {
			e := *events[0]
			e.Seq, e.Turn = info.Tip.Seq+1+i, info.Tip.Turn+1+i
			e.Body = &conversation.TurnStart{}
			e.Subject = text
			e.Time = e.Time.AddDate(0, 0, len(text))
			more = append(more, &e)
		}
		_, err := f.Append(t.Context(), info.ID, info.Head, more)
		require.NoError(t, err)
		return f.info(1)
	}
	longer := appended(info, 300, "on")
	check(longer)
	back := conversation.Info{ID: info.ID, Head: conversation.Head(commits(must(f.Load(t.Context(), info.Head)))[150])}
	f.git("update-ref", "refs/jp/conversations/"+string(info.ID), string(back.Head))
	check(f.again().info(1))
	f = f.again()
	check(appended(f.info(1), 400, "another way"))
	check(longer)
	f.git("gc", "-q")
	check(f.info(1))
}

func TestBackwardFromWritesNothingBesideATransient(t *testing.T) {
	f := newFixture(t)
	info := f.chat(1, 200)
	f.Transient()
	_, _, err := f.from(info, 0, 1)
	require.NoError(t, err)
	require.NoFileExists(t, f.index(1))
}

// TestAForeignSummaryIsKept removes an event in the middle of a conversation that another wrote: a later
// look reads only the newest event, unless the file was changed.
func TestAForeignSummaryIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(f *fixture, info conversation.Info)
		lost  bool
	}{
		"as it is":        {spoil: func(*fixture, conversation.Info) {}},
		"beside an index": {spoil: func(f *fixture, info conversation.Info) { _, _, _ = f.from(info, 310, 1) }},
		"a changed byte": {lost: true, spoil: func(f *fixture, _ conversation.Info) {
			data := must(os.ReadFile(f.index(1)))
			data[80] ^= 1
			require.NoError(f.t, os.WriteFile(f.index(1), data, 0o600))
		}},
		"of another version": {lost: true, spoil: func(f *fixture, _ conversation.Info) {
			require.NoError(f.t, os.WriteFile(f.index(1), []byte("jp-index 1\n"), 0o600))
		}},
		"of another head": {lost: true, spoil: func(f *fixture, _ conversation.Info) {
			f.git("update-ref", refs+string(journaltest.ID(1)), refs+string(journaltest.ID(1))+"~1")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			texts := make([]string, 300)
			for i := range texts {
				texts[i] = fmt.Sprint("request ", i)
			}
			stranger := openStore(t, f.dir, gitstore.Options{Durability: odb.Off, Key: []byte("another key, of thirty-two bytes")})
			_, err := stranger.Create(t.Context(), journaltest.ID(1), "", turns(t, texts...))
			require.NoError(t, err)
			info := f.again().info(1)
			events := must(f.Load(t.Context(), info.Head))
			require.Equal(t, conversation.Summarize(events), info.Summary)
			c.spoil(f.again(), info)
			lost := events[100].Commit
			require.NoError(t, os.Remove(filepath.Join(f.dir, ".git/objects", lost[:2], lost[2:])))
			again, err := f.again().Info(t.Context(), journaltest.ID(1))
			if c.lost {
				require.ErrorIs(t, err, conversation.ErrDamaged)
				return
			}
			require.NoError(t, err)
			require.Equal(t, info, again)
		})
	}
}
