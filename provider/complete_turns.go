package provider

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	"jp/compaction"
	"jp/conversation"
	"jp/provider/encoded"
)

// CompleteTurns keeps the messages that [Build] made of the complete turns of a conversation. These
// stay the same while the next turn goes on, so each of its requests reads only the events of
// that turn. The zero value is ready to use, by several goroutines, for requests with the same
// [Options.Content].
type CompleteTurns struct {
	mu      sync.Mutex
	newest  *projectedTurns
	encoded encoded.Store
}

// store has the JSON of earlier requests.
func (c *CompleteTurns) store() *encoded.Store {
	if c == nil {
		return nil
	}
	return &c.encoded
}

// projectedTurns are complete turns as they are sent to a target. Only prefix is changed later.
type projectedTurns struct {
	events []*conversation.Event
	terms  projectionTerms
	pieces []part
	ids    wireIDs
	// messages are what requests begin with, unless later events change the last of them.
	messages []Message

	mu     sync.Mutex
	prefix hashedPrefix
}

// projectionTerms decide, besides its events, what a turn becomes.
type projectionTerms struct {
	target Target // without Content
	gaps   gaps
	force  compaction.Force
}

// of projects complete turns, or gives the newest ones if they are the same. It gives nil if a
// summary stands for some of them: the text of a summary also depends on later events.
func (c *CompleteTurns) of(events []*conversation.Event, p projection) *projectedTurns {
	if c == nil || len(events) == 0 || p.force.Summary != nil {
		return nil
	}
	terms := projectionTerms{p.target, p.gaps, p.force}
	terms.target.Content = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.newest; n != nil && slices.Equal(n.events, events) && reflect.DeepEqual(n.terms, terms) {
		return n
	}
	absent := false // a payload is missing, and may be there for the next request
	if content := p.target.Content; content != nil {
		p.target.Content = func(payload conversation.Payload) ([]byte, bool) {
			data, there := content(payload)
			absent = absent || !there
			return data, there
		}
	}
	p.ids = wireIDs{}
	later, extended := c.newest.extendedBy(events, terms)
	if extended {
		p.pieces, p.ids = slices.Clone(c.newest.pieces), maps.Clone(c.newest.ids)
	}
	from := len(p.pieces)
	for turn := range conversation.Turns(later) {
		p.add(p.turn(turn))
	}
	for i := max(0, from-1); i < len(p.pieces); i++ { // merge appends to blocks: without spare room, append copies them
		p.pieces[i].Blocks, p.pieces[i].from = slices.Clip(p.pieces[i].Blocks), slices.Clip(p.pieces[i].from)
	}
	turns := &projectedTurns{events: slices.Clone(events), terms: terms, pieces: p.pieces, ids: p.ids}
	turns.messages = messagesOf(merge(withoutOldReports(p.pieces)))
	if extended {
		turns.prefix = c.newest.prefixOf(turns.messages)
	}
	if !absent {
		c.newest = turns
	}
	return turns
}

// extendedBy are the events, as a reader may rely on them, of the turns behind these, and true. If they are not the
// next turns of these under the same terms, it gives all events.
func (t *projectedTurns) extendedBy(events []*conversation.Event, terms projectionTerms) (later []*conversation.Event, extended bool) {
	if t != nil && len(events) >= len(t.events) && slices.Equal(t.events, events[:len(t.events)]) && reflect.DeepEqual(t.terms, terms) {
		later = withoutSettings(events[len(t.events):])
		relied := withoutSettings(conversation.Sanitize(later))
		if beginTurn(later) && beginTurn(relied) { // else the newest of these turns goes on
			return relied, true
		}
	}
	return conversation.Sanitize(events), false
}

// withoutSettings leaves out the events, before the first turn, that are no part of a request.
func withoutSettings(events []*conversation.Event) []*conversation.Event {
	for len(events) > 0 && (events[0].Type() == conversation.TypeConfigDelta || events[0].Type() == conversation.TypeMetadata) {
		events = events[1:]
	}
	return events
}

// beginTurn reports whether the events, if there are any, begin with that of a turn.
func beginTurn(events []*conversation.Event) bool {
	return len(events) == 0 || events[0].Type() == conversation.TypeTurnStart
}

// begins counts the messages, from the first one on, that are those of the complete turns.
func (t *projectedTurns) begins(messages []Message) (n int) {
	if t == nil {
		return 0
	}
	for n < min(len(t.messages), len(messages)) {
		a, b := t.messages[n], messages[n]
		if a.Role != b.Role || len(a.Blocks) != len(b.Blocks) || len(a.Blocks) == 0 || &a.Blocks[0] != &b.Blocks[0] {
			break
		}
		n++
	}
	return n
}
