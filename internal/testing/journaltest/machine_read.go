package journaltest

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// check compares everything that the journal says with the model.
func (m *machine) check(t *rapid.T) {
	j := m.journal(t)
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		var want []conversation.ID
		for id, a := range m.model {
			if a.scope == scope {
				want = append(want, id)
			}
		}
		require.ElementsMatch(t, want, listed(t, j, scope))
	}
	for _, id := range m.ids() {
		m.checkOne(t, j, id)
	}
}

func (m *machine) checkOne(t *rapid.T, j conversation.Journal, id conversation.ID) {
	a := m.model[id]
	requireUnchanged(t, j, id, a.head(), a.events)
	info, err := j.Info(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, a.head(), info.Head)
	require.Equal(t, "refs/jp/"+string(a.scope)+"/"+string(id), info.Ref)
	require.Equal(t, header(t, a.last()), header(t, info.Tip))
	requireSummary(t, conversation.Summarize(a.events), info.Summary)
	verdict, err := j.Verify(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, len(a.events), verdict.Events)
	require.Empty(t, verdict.Problems)
	m.checkPayloads(t, j, a)
}

func (m *machine) checkPayloads(t *rapid.T, j conversation.Journal, a *account) {
	got, err := j.Load(t.Context(), a.head())
	require.NoError(t, err)
	for i, e := range a.events {
		for _, p := range e.Payloads {
			if p.Data == nil {
				continue
			}
			kept := got[i].Payload(p.Name)
			require.NotNil(t, kept, "payload %s of event %d", p.Name, i)
			data, ok, err := j.Payload(t.Context(), *kept)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, string(p.Data), string(data))
		}
	}
}

// back reads some events from the end, and spoils its copies.
func (m *machine) back(t *rapid.T) {
	_, a := m.pick(t)
	want := rapid.IntRange(1, len(a.events)).Draw(t, "events")
	n := len(a.events)
	for e, err := range m.journal(t).Backward(t.Context(), a.head()) {
		require.NoError(t, err)
		n--
		requireSameEvent(t, a.events[n], e)
		if _, has := e.Text(); has {
			e.SetText("spoilt by a reader")
		}
		if len(a.events)-n == want {
			return
		}
	}
	require.Zero(t, n, "it ends behind the first event")
}

// older reads up to any event, the newest or an older one.
func (m *machine) older(t *rapid.T) {
	_, a := m.pick(t)
	n := rapid.IntRange(1, len(a.events)).Draw(t, "events")
	got, err := m.journal(t).Load(t.Context(), conversation.Head(a.events[n-1].Commit))
	require.NoError(t, err)
	requireSame(t, a.events[:n], got)
}

// missing asks for absent conversations and events.
func (m *machine) missing(t *rapid.T) {
	id, j := anyID(t), m.journal(t)
	if m.model[id] != nil {
		t.Skip("it is there")
	}
	_, err := j.Head(t.Context(), id)
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Info(t.Context(), id)
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Verify(t.Context(), id)
	require.ErrorIs(t, err, conversation.ErrNotFound)
	_, err = j.Append(t.Context(), id, unknownHead, m.group(t, nil))
	require.ErrorIs(t, err, conversation.ErrNotFound)
	require.ErrorIs(t, j.Delete(t.Context(), id, unknownHead), conversation.ErrNotFound)
	_, err = j.Load(t.Context(), unknownHead)
	require.ErrorIs(t, err, conversation.ErrNotFound)
}
