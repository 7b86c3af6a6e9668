package search

import (
	"strings"
	"time"

	"jp/conversation"
)

// A Line is a matching line of an event's text, or a neighbour of one. A line of the title belongs to no
// event: its Seq is -1, its Turn 0.
type Line struct {
	Turn       int
	Seq        int
	Scope      Scope
	Time       time.Time
	Number     int // of the line in the event's text, from 1
	Text       string
	Match      bool
	Submatches [][2]int // bytes of Text, from and to
	Commit     string   // of the event; "" for a title
	Forks      []string // names of the forks that share the event, if [Once] left them out
}

// Lines searches a title and events, which are in order and hold at least those
// that the prefilter passes and all discards. Lines are in the order of the events.
func (q *Query) Lines(title string, events []*conversation.Event) []Line {
	return q.look(title, events).lines
}

func (q *Query) look(title string, events []*conversation.Event) *sink {
	c := &sink{query: q, counts: q.opts.Count}
	if q.scopes[Title] && title != "" {
		c.add(Line{Seq: -1, Scope: Title}, title)
	}
	var gone spans
	for _, e := range events {
		if d, ok := e.Body.(*conversation.TurnDiscarded); ok {
			gone = append(gone, [2]int{d.FromSeq, d.ToSeq})
		}
	}
	without := q.skipped(events)
	for _, e := range events {
		if c.full() {
			break
		}
		scope, text := textOf(e)
		if scope == "" || !q.scopes[scope] || gone.holds(e.Seq) || without[e.Seq] {
			continue
		}
		if n, reduced := q.counted.Load(e); reduced {
			c.matches += n.(int)
			continue
		}
		c.add(Line{Turn: e.Turn, Seq: e.Seq, Scope: scope, Time: e.Time, Commit: e.Commit}, text)
	}
	return c
}

// reduce counts the matching lines of a text and drops it: a count would hold all events that the prefilter
// passes.
func (q *Query) reduce(e *conversation.Event) {
	switch e.Body.(type) {
	case *conversation.ChatRequest, *conversation.ChatResponse, *conversation.ToolCallResponse:
	default:
		return // other texts are searched with more of the event
	}
	text, _ := e.Text()
	if e.Missing() > 0 {
		return // its length tells how much is missing
	}
	c := sink{query: q, counts: true}
	c.add(Line{}, text)
	q.counted.Store(e, c.matches)
	e.SetText("")
}

// skipped are the events of calls outside of the search. A question about a call that is missing from the
// events lacks the call's arguments.
func (q *Query) skipped(events []*conversation.Event) map[int]bool {
	if q.opts.Without == nil {
		return nil
	}
	skipped := map[int]bool{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.ToolCallRequest:
			skipped[e.Seq] = q.opts.Without(b.Name)
		case *conversation.ToolCallResponse:
			skipped[e.Seq] = q.opts.Without(b.Name)
		case *conversation.InquiryRequest:
			skipped[e.Seq] = skipped[b.For]
		}
	}
	return skipped
}

// A sink gathers lines until there are enough matches.
type sink struct {
	query   *Query
	counts  bool // lines are not kept
	lines   []Line
	matches int
}

func (c *sink) full() bool { return c.query.opts.Max > 0 && c.matches >= c.query.opts.Max }

// add searches one text, whose lines are all like the one given.
func (c *sink) add(like Line, text string) {
	hope := &prefilter{end: len(text), next: make([]int, len(c.query.needed))}
	for i, n := range c.query.needed {
		hope.finders = append(hope.finders, n.InText(text))
		hope.next[i] = -1
	}
	if !hope.any(0, len(text)) || len(c.query.needed) == 0 && c.query.whole && !c.query.re.MatchString(text) {
		return
	}
	before := c.query.opts.Before
	var held []Line // lines that become context if a match follows
	after := 0      // lines that still are context of the last match
	number, at := 0, 0
	for line := range strings.Lines(text) {
		number++
		from := at
		at += len(line)
		l := like
		l.Number, l.Text = number, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if !c.full() && hope.any(from, at) {
			l.Submatches = c.query.match(l.Text)
		}
		switch {
		case l.Submatches != nil && c.counts:
			c.matches++
		case l.Submatches != nil:
			l.Match = true
			c.lines = append(append(c.lines, held...), l)
			c.matches++
			held, after = held[:0], c.query.opts.After
		case after > 0:
			c.lines = append(c.lines, l)
			after--
		case c.full():
			return
		case before > 0:
			if len(held) == before {
				held = append(held[:0], held[1:]...)
			}
			held = append(held, l)
		}
	}
}

// A prefilter finds the parts of a text that cannot match.
type prefilter struct {
	finders []*Finder
	next    []int // next place of each needle at or behind the last part
	end     int
}

// any reports whether something may match in a part. Parts must come in order.
func (h *prefilter) any(from, to int) bool {
	for i, f := range h.finders {
		if h.next[i] < from {
			if h.next[i] = f.From(from); h.next[i] < 0 {
				h.next[i] = h.end
			}
		}
		if h.next[i] < to {
			return true
		}
	}
	return len(h.finders) == 0
}

// match is the places of the patterns in a line, nil if there are none.
func (q *Query) match(line string) [][2]int {
	if q.exact {
		var found [][2]int
		n, in := len(q.filter.Any[0]), q.needed[0].InText(line)
		for at := in.From(0); at >= 0; at = in.From(at + n) {
			found = append(found, [2]int{at, at + n})
		}
		return found
	}
	var found [][2]int
	for _, m := range q.re.FindAllStringIndex(line, -1) {
		if m[1] > m[0] {
			found = append(found, [2]int{m[0], m[1]})
		}
	}
	if found == nil && q.re.MatchString(line) { // it matches only the empty text
		return [][2]int{}
	}
	return found
}

// spans are ranges of events that were discarded.
type spans [][2]int

func (s spans) holds(seq int) bool {
	for _, r := range s {
		if seq >= r[0] && seq <= r[1] {
			return true
		}
	}
	return false
}
