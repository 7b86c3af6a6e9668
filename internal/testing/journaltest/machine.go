package journaltest

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
)

// A Subject is a journal to compare with a model, with events around it.
type Subject struct {
	Journal conversation.Journal
	// Again opens the same conversations once more, as another process does; nil if there can be only one.
	Again func() conversation.Journal
	// Beside are actions of others, by name, that leave a journal's answers as they are.
	Beside map[string]func()
}

// Machine lets checks random commands act on journals made by open. After each command all answers of the
// journal must be those of a model: a map from ids to lists of events. It returns the number of checked
// commands. Other tests must not run rapid beside it.
func Machine(t testing.TB, checks int, open func(t *rapid.T) Subject) (commands int) {
	limit(t, checks)
	rapid.Check(t, func(t *rapid.T) {
		subject := open(t)
		m := &machine{subject: subject, handles: []conversation.Journal{subject.Journal}, model: map[conversation.ID]*account{}, clock: Clock()}
		t.Repeat(m.commands(func() { commands++ }))
	})
	return commands
}

// limit sets how many checks rapid makes until the test ends.
func limit(t testing.TB, checks int) {
	t.Helper()
	const name = "rapid.checks"
	before := flag.Lookup(name).Value.String()
	require.NoError(t, flag.Set(name, fmt.Sprint(checks)))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
}

// commands are the possible commands, and the check after each.
func (m *machine) commands(looked func()) map[string]func(*rapid.T) {
	commands := map[string]func(*rapid.T){
		"":       func(t *rapid.T) { m.check(t); looked() },
		"create": m.create, "append": m.append, "append more": m.append, "append late": m.late, "append a gap": m.gap,
		"append cancelled": m.cancelled, "race": m.race, "fork": m.fork, "archive": m.archive,
		"delete": m.delete, "read back": m.back, "read older": m.older, "read missing": m.missing,
	}
	if m.subject.Again != nil {
		commands["open again"] = m.again
	}
	if len(m.subject.Beside) > 0 {
		commands["beside"] = m.beside
	}
	return commands
}

// machine acts on a journal and on a model of it.
type machine struct {
	subject Subject
	handles []conversation.Journal // on the same conversations
	model   map[conversation.ID]*account
	clock   func() time.Time
}

// account is the model's knowledge of one conversation.
type account struct {
	events []*conversation.Event
	scope  conversation.Scope
}

func (a *account) last() *conversation.Event { return a.events[len(a.events)-1] }
func (a *account) head() conversation.Head   { return conversation.Head(a.last().Commit) }

// journal is one of the handles.
func (m *machine) journal(t *rapid.T) conversation.Journal {
	return m.handles[rapid.IntRange(0, len(m.handles)-1).Draw(t, "handle")]
}

// anyID is an id that may already be taken.
func anyID(t *rapid.T) conversation.ID { return ID(rapid.IntRange(0, 5).Draw(t, "id")) }

// pick is a conversation that there is.
func (m *machine) pick(t *rapid.T) (conversation.ID, *account) {
	if len(m.model) == 0 {
		t.Skip("there is no conversation")
	}
	id := rapid.SampledFrom(m.ids()).Draw(t, "conversation")
	return id, m.model[id]
}

// took makes a group part of the model, and then spoils the caller's own copy:
// the journal must have its own.
func (a *account) took(t *rapid.T, head conversation.Head, group []*conversation.Event) {
	require.Equal(t, string(head), group[len(group)-1].Commit)
	a.events = append(a.events[:len(a.events):len(a.events)], clones(group)...)
	for _, e := range group {
		if _, has := e.Text(); has {
			e.SetText("spoilt by the caller")
		}
	}
}

func clones(events []*conversation.Event) []*conversation.Event {
	out := make([]*conversation.Event, len(events))
	for i, e := range events {
		out[i] = e.Clone()
	}
	return out
}

func (m *machine) again(t *rapid.T) {
	j := m.subject.Again()
	if len(m.handles) < 3 {
		m.handles = append(m.handles, j)
		return
	}
	m.handles[rapid.IntRange(0, 2).Draw(t, "replaced")] = j
}

func (m *machine) beside(t *rapid.T) {
	m.subject.Beside[rapid.SampledFrom(sortedKeys(m.subject.Beside)).Draw(t, "what")]()
}

// cancelled tries a write whose caller has given up.
func (m *machine) cancelled(t *rapid.T) {
	id, a := m.pick(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := m.journal(t).Append(ctx, id, a.head(), m.group(t, a.events))
	require.ErrorIs(t, err, context.Canceled)
}
