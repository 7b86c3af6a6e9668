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
	Events   []*conversation.Event // copies of all events; nil: they are read when they are written
	Absent   int                   // payloads that are missing here
	wanted   func(conversation.Payload) bool
	outgoing *repo.Outgoing
	beside   *repo.Outgoing // of texts outside of events
	summary  conversation.Summary
	size     int // events
}

// Open finds the conversation that a word stands for, for an export that has its payloads that are
// wanted.
func Open(ctx context.Context, r *repo.Repo, word string, wanted func(conversation.Payload) bool) (*Source, error) {
	v, err := r.Find().ViewForward(ctx, r.Env, word)
	if err != nil {
		return nil, err
	}
	return &Source{View: v, wanted: wanted, outgoing: v.Outgoing()}, nil
}

// Load is Open with all events.
func Load(ctx context.Context, r *repo.Repo, word string, wanted func(conversation.Payload) bool) (*Source, error) {
	v, err := r.Find().View(ctx, r.Env, word)
	if err != nil {
		return nil, err
	}
	read := &Source{View: v, wanted: wanted}
	events, err := read.copies(ctx, v.Events)
	if err != nil {
		return nil, err
	}
	s := New(v, events, v.Outgoing())
	s.Absent = read.Absent
	return s, nil
}

// copies are events that may be changed, with the content of their payloads.
func (s *Source) copies(ctx context.Context, of []*conversation.Event) (events []*conversation.Event, err error) {
	for _, e := range of {
		e = e.Clone()
		e.Payloads = slices.Clone(e.Payloads)
		for i := range e.Payloads {
			p := &e.Payloads[i]
			if !s.wanted(*p) {
				continue
			}
			data, there, err := s.View.Repo.Store.Payload(ctx, *p)
			if err != nil {
				return nil, fmt.Errorf("read payload %.60q of event %d: %w", p.Name, e.Seq, err)
			}
			if !there {
				s.Absent++
				continue
			}
			p.Data = append([]byte{}, data...)
		}
		events = append(events, e)
	}
	return events, nil
}

// New is a source of events that may be changed, with the content of their payloads.
func New(v *repo.View, events []*conversation.Event, o *repo.Outgoing) *Source {
	o.Events(events)
	return &Source{View: v, Events: events, outgoing: o, summary: conversation.Summarize(events), size: len(events)}
}

// body writes the events of one turn after the other, or all at once, behind those before. It may
// begin again with a new document.
func (s *Source) body(ctx context.Context, begin func(d *Document), write func(events []*conversation.Event) error) (d *Document, err error) {
	pass := func() error {
		if d != nil {
			d.Close()
		}
		d = &Document{}
		s.beside = s.outgoing.Beside()
		begin(d)
		if s.Events != nil {
			return write(s.Events)
		}
		s.Absent, s.size, s.summary = 0, 0, conversation.Summary{}
		for events, err := range s.View.Forward(ctx) {
			if err == nil {
				events, err = s.copies(ctx, events)
			}
			if err != nil {
				return err
			}
			s.outgoing.Events(events)
			for _, e := range events {
				s.summary = s.summary.Next(e)
			}
			s.size += len(events)
			if err := write(events); err != nil {
				return err
			}
		}
		return nil
	}
	if s.Events != nil {
		err = pass()
	} else {
		err = s.outgoing.Pass(pass)
	}
	if err != nil {
		d.Close()
	}
	return d, err
}

// Document is the conversation in a format: json, md or html.
func (s *Source) Document(ctx context.Context, format string, page Options) (*Document, error) {
	switch format {
	case "json":
		return s.JSON(ctx)
	case "md":
		return s.Markdown(ctx)
	}
	forks, err := Forks(ctx, s.View.Repo)
	if err != nil {
		return nil, err
	}
	page.Forks = forks[s.View.ID]
	return s.Page(ctx, page)
}

// Title is the conversation's title.
func (s *Source) Title() string {
	if s.summary.Title == "" {
		return string(s.View.ID)
	}
	return s.summary.Title
}

// Secrets names the replaced secrets, "" for none.
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
