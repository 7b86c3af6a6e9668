package provider

import (
	"encoding/json"

	"pgregory.net/rapid"

	"jp/conversation"
)

// Parts that the tests of the wire formats share with those of the projection.
var (
	EventsBy       = eventsBy
	Every          = every
	EveryCompacted = everyCompacted
)

// A Maker is a target with the items of its model's events.
type Maker = maker

// NewMaker makes one.
func NewMaker(target Target, item func(*conversation.Event) json.RawMessage) Maker {
	return maker{Target: target, item: item}
}

// A Session plays a whole conversation.
type Session = session

// NewSessionBy begins one; asked is called with each request that it makes, and
// with a word of its answer.
func NewSessionBy(t *rapid.T, m Maker, asked func(answer string, r *Request)) *Session {
	s := newSessionBy(t, m)
	s.asked = asked
	return s
}

// Step takes jp's next step.
func (s *session) Step() { s.step() }

// Events are all events so far.
func (s *session) Events() []*conversation.Event { return s.stream.Events() }

// Options are the options of its requests.
func (s *session) Options() Options { return s.options }
