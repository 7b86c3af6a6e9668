package export

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/conversation"
)

// A Source is a conversation that is about to leave, without its secrets.
type Source struct {
	View     *repo.View
	Events   []*conversation.Event // copies
	Absent   int                   // payloads that are missing here
	outgoing *repo.Outgoing
	summary  conversation.Summary
}

// Load reads the conversation that a word stands for, with the payloads that are wanted.
func Load(ctx context.Context, r *repo.Repo, word string, wanted func(conversation.Payload) bool) (*Source, error) {
	v, err := r.Find().View(ctx, r.Env, word)
	if err != nil {
		return nil, err
	}
	absent := 0
	var events []*conversation.Event
	for _, e := range v.Events {
		e = e.Clone()
		e.Payloads = slices.Clone(e.Payloads)
		for i := range e.Payloads {
			p := &e.Payloads[i]
			if !wanted(*p) {
				continue
			}
			data, there, err := r.Store.Payload(ctx, *p)
			if err != nil {
				return nil, fmt.Errorf("read payload %.60q of event %d: %w", p.Name, e.Seq, err)
			}
			if !there {
				absent++
				continue
			}
			p.Data = append([]byte{}, data...)
		}
		events = append(events, e)
	}
	s := New(v, events, v.Outgoing())
	s.Absent = absent
	return s, nil
}

// New is a source of events that may be changed, with the content of their payloads.
func New(v *repo.View, events []*conversation.Event, o *repo.Outgoing) *Source {
	o.Events(events)
	return &Source{View: v, Events: events, outgoing: o, summary: conversation.Summarize(events)}
}

// Title is what the conversation is called.
func (s *Source) Title() string {
	if s.summary.Title == "" {
		return string(s.View.ID)
	}
	return s.summary.Title
}

// Secrets says which secrets were replaced, "" for none.
func (s *Source) Secrets() string {
	rules := s.outgoing.Rules()
	var words []string
	n := 0
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		n += rules[rule]
		words = append(words, fmt.Sprintf("%s %d", rule, rules[rule]))
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s replaced: %s.", conversation.Count(n, "secret"), strings.Join(words, ", "))
}
