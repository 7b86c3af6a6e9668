package provider

import (
	"reflect"
	"slices"
	"sync"

	"jp/compaction"
	"jp/conversation"
)

// CompleteTurns keeps the messages that [Build] made of the complete turns of a conversation. These stay the
// same during the next turn, so each of its requests reads only the events of that turn. The zero value is
// ready to use, by several goroutines, for requests with the same [Options.Content].
type CompleteTurns struct {
	mu      sync.Mutex
	newest  *projectedTurns
	encoded EncodedStore
}

func (c *CompleteTurns) store() *EncodedStore {
	if c == nil {
		return nil
	}
	return &c.encoded
}

// projectedTurns are complete turns as they are sent to a target. Only prefix is changed later.
type projectedTurns struct {
	events []*conversation.Event
	terms  projectionTerms
	ids    *wireIDs
	ended  int // model calls
	// messages begin all requests, unless later events change the unsettled ones. These are made of the
	// pieces.
	messages []Message
	settled  int
	pieces   []part
	called   []string // the tools that the settled messages call

	mu     sync.Mutex
	prefix hashedPrefix
}

// projectionTerms are, besides its events, the inputs of a turn's messages.
type projectionTerms struct {
	target Target // without Content
	gaps   gaps
	force  compaction.Force
}

// of projects complete turns, or gives the newest ones if they are the same. It returns nil if a summary
// replaces some of them, since the text of a summary also depends on later events.
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
	turns := &projectedTurns{events: slices.Clone(events), terms: terms}
	later, extended := c.newest.extendedBy(events, terms)
	since := events // the turns that are read now
	if extended {
		p.pieces, turns.ids = slices.Clone(c.newest.pieces), newWireIDs(c.newest.ids)
		turns.messages, turns.called = c.newest.before(), c.newest.called
		turns.ended, since = c.newest.ended, events[len(c.newest.events):]
	} else {
		turns.ids = newWireIDs(nil)
	}
	p.ids = turns.ids
	for turn := range conversation.Turns(later) {
		p.add(p.turn(turn))
	}
	for i := range p.pieces { // merge appends to blocks: without spare room, append copies them
		p.pieces[i].Blocks, p.pieces[i].from = slices.Clip(p.pieces[i].Blocks), slices.Clip(p.pieces[i].from)
	}
	turns.ended += endedCalls(since, p.gaps)
	turns.settle(p.pieces)
	if extended {
		turns.prefix = c.newest.prefixOf(turns.messages)
	}
	if !absent {
		c.newest = turns
	}
	return turns
}

// settle adds the pieces. Later events leave the messages before the newest answer as they are.
func (t *projectedTurns) settle(pieces []part) {
	at := len(pieces) - 1
	for at > 0 && (pieces[at].Role != conversation.RoleAssistant || pieces[at].report) {
		at--
	}
	at = max(at, 0)
	settled := messagesOf(merge(withoutOldReports(pieces[:at])))
	t.called = calledIn(slices.Clip(t.called), settled)
	t.pieces, t.settled = slices.Clone(pieces[at:]), len(t.messages)+len(settled)
	t.messages = slices.Concat(t.messages, settled, messagesOf(merge(withoutOldReports(t.pieces))))
}

// before are the settled messages.
func (t *projectedTurns) before() []Message {
	if t == nil {
		return nil
	}
	return t.messages[:t.settled:t.settled]
}

// calls are the tools that the messages of a request call.
func (t *projectedTurns) calls(messages []Message) []string {
	if t == nil {
		return calledIn(nil, messages)
	}
	return calledIn(slices.Clip(t.called), messages[t.settled:])
}

// calledIn adds the tools that messages call, each once, in order of use.
func calledIn(called []string, messages []Message) []string {
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Kind == BlockToolCall && !slices.Contains(called, b.Name) {
				called = append(called, b.Name)
			}
		}
	}
	return called
}

// endedCalls counts the model calls in all events that came to an end.
func (t *projectedTurns) endedCalls(events []*conversation.Event) int {
	if t == nil {
		return endedCalls(events, gapsOf(events))
	}
	return t.ended + endedCalls(events[len(t.events):], t.terms.gaps)
}

// extendedBy are the events, as a reader may rely on them, of the turns behind these, and true. If they are
// other turns, or under other terms, it returns all events.
func (t *projectedTurns) extendedBy(events []*conversation.Event, terms projectionTerms) (later []*conversation.Event, extended bool) {
	if t != nil && len(events) >= len(t.events) && slices.Equal(t.events, events[:len(t.events)]) && reflect.DeepEqual(t.terms, terms) {
		later = withoutSettings(events[len(t.events):])
		relied := withoutSettings(conversation.Sanitize(later))
		if beginTurn(later) && beginTurn(relied) { // else the newest of these turns continues
			return relied, true
		}
	}
	return conversation.Sanitize(events), false
}

// withoutSettings skips the settings and metadata before the first turn, since requests omit them.
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
