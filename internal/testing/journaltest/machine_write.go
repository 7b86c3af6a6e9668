package journaltest

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func (m *machine) ids() []conversation.ID { return sortedKeys(m.model) }

func (m *machine) create(t *rapid.T) {
	id := anyID(t)
	group := m.group(t, nil)
	head, err := m.journal(t).Create(t.Context(), id, "", group)
	if m.model[id] != nil {
		require.ErrorIs(t, err, conversation.ErrExists)
		return
	}
	require.NoError(t, err)
	m.model[id] = &account{scope: conversation.ScopeLive}
	m.model[id].took(t, head, group)
}

func (m *machine) append(t *rapid.T) {
	id, a := m.pick(t)
	group := m.group(t, a.events)
	head, err := m.journal(t).Append(t.Context(), id, a.head(), group)
	require.NoError(t, err)
	a.took(t, head, group)
}

// late appends behind an event that is no longer the newest.
func (m *machine) late(t *rapid.T) {
	id, a := m.pick(t)
	if len(a.events) < 2 {
		t.Skip("there is one event only")
	}
	n := rapid.IntRange(1, len(a.events)-1).Draw(t, "events seen")
	stale := conversation.Head(a.events[n-1].Commit)
	_, err := m.journal(t).Append(t.Context(), id, stale, m.group(t, a.events[:n]))
	require.ErrorIs(t, err, conversation.ErrHeadMoved)
	if a.scope == conversation.ScopeLive {
		_, err = m.journal(t).Archive(t.Context(), id, stale, archivingBehind(a.last(), a.last().Time), true)
		require.ErrorIs(t, err, conversation.ErrHeadMoved)
	}
	require.ErrorIs(t, m.journal(t).Delete(t.Context(), id, stale), conversation.ErrHeadMoved)
}

// gap appends an event that cannot come next.
func (m *machine) gap(t *rapid.T) {
	id, a := m.pick(t)
	group := m.group(t, a.events)
	group[rapid.IntRange(0, len(group)-1).Draw(t, "event")].Seq += rapid.SampledFrom([]int{-1, 1, 100}).Draw(t, "off")
	_, err := m.journal(t).Append(t.Context(), id, a.head(), group)
	require.Error(t, err)
}

// race lets two writers append behind the same head at once.
func (m *machine) race(t *rapid.T) {
	id, a := m.pick(t)
	var groups [2][]*conversation.Event
	var journals [2]conversation.Journal
	for w := range groups {
		groups[w], journals[w] = m.group(t, a.events), m.journal(t)
	}
	if sameGroup(t, groups[0], groups[1]) {
		t.Skip("both would write the same commits")
	}
	var heads [2]conversation.Head
	var errs [2]error
	var all sync.WaitGroup
	for w := range groups {
		all.Go(func() { heads[w], errs[w] = journals[w].Append(t.Context(), id, a.head(), groups[w]) })
	}
	all.Wait()
	winner := 0
	if errs[0] != nil {
		winner = 1
	}
	require.NoError(t, errs[winner], "nobody could write")
	require.ErrorIs(t, errs[1-winner], conversation.ErrHeadMoved)
	a.took(t, heads[winner], groups[winner])
}

func (m *machine) fork(t *rapid.T) {
	from, source := m.pick(t)
	n := rapid.IntRange(1, len(source.events)).Draw(t, "events shared")
	id, o := anyID(t), origin(from, source.events[:n])
	head, err := m.journal(t).Fork(t.Context(), from, conversation.Head(source.events[n-1].Commit), id, o)
	if m.model[id] != nil {
		require.ErrorIs(t, err, conversation.ErrExists)
		return
	}
	require.NoError(t, err)
	m.model[id] = &account{scope: conversation.ScopeLive, events: source.events[:n]}
	m.model[id].took(t, head, []*conversation.Event{o})
}

// archive moves a conversation out of the live ones or back, on request; a conversation that is already there
// cannot be moved.
func (m *machine) archive(t *rapid.T) {
	id, a := m.pick(t)
	to, at := conversation.ScopeArchived, a.last().Time
	if !rapid.Bool().Draw(t, "archived") {
		to, at = conversation.ScopeLive, time.Time{}
	}
	record := archivingBehind(a.last(), at)
	head, err := m.journal(t).Archive(t.Context(), id, a.head(), record, to == conversation.ScopeArchived)
	if a.scope == to {
		require.ErrorIs(t, err, conversation.ErrNotFound)
		return
	}
	require.NoError(t, err)
	a.took(t, head, []*conversation.Event{record})
	a.scope = to
}

func (m *machine) delete(t *rapid.T) {
	id, a := m.pick(t)
	require.NoError(t, m.journal(t).Delete(t.Context(), id, a.head()))
	delete(m.model, id)
}
