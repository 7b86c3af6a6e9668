package conversation

// A Cut says which events of a conversation to keep. The zero value keeps all.
// Bounds are inclusive; turns are counted as readers see them.
type Cut struct {
	From  *int // seq of the first event
	Until *int // seq of the last event
	First int  // keep only this many turns from the start
	Last  int  // keep only this many turns from the end
}

// Prefix reports whether the cut only takes events off the end, so that what is
// kept can be shared with the source.
func (c Cut) Prefix() bool {
	return (c.From == nil || *c.From <= 0) && c.Last == 0
}

// Slice returns the events that the cut keeps. A cut that only takes events off
// the end returns the source's own events; any other returns copies that are
// numbered anew, with references mapped, turns that were discarded gone, and
// the model's opaque state dropped, since it is bound to what stood before it.
// What the events before a cut had set (configuration, metadata, the prompt)
// comes with the copies. The source is never changed. A cut inside a turn
// leaves an incomplete turn.
func Slice(events []*Event, cut Cut) []*Event {
	from, until := 0, len(events)
	if cut.From != nil {
		from = indexOf(events, *cut.From)
	}
	if cut.Until != nil {
		until = indexOf(events, *cut.Until+1)
	}
	if from >= until {
		return nil
	}
	gone := discarded(events)
	head, tail := cut.turns(events[from:until], gone)
	if cut.Prefix() {
		return events[:head]
	}
	n := numbering{seqs: map[int]int{}, gone: gone}
	n.copy(inForce(events[:from]))
	n.copy(events[from : from+head])
	n.copy(inForce(events[from+head : from+tail]))
	n.copy(events[from+tail : until])
	return n.copies
}

// turns returns how many events to keep at the start, and the index from which
// on to keep them again.
func (c Cut) turns(events []*Event, gone map[int]bool) (head, tail int) {
	if c.First == 0 && c.Last == 0 {
		return len(events), len(events)
	}
	var starts, ends []int // of the turns that readers see
	at := 0
	for t := range Turns(events) {
		for events[at] != t.Events[0] {
			at++
		}
		if !gone[t.First()] && !t.Ledger().Empty() {
			starts, ends = append(starts, at), append(ends, at+len(t.Events))
		}
	}
	if c.First+c.Last >= len(starts) {
		return len(events), len(events)
	}
	tail = len(events)
	if c.First > 0 {
		head = ends[c.First-1]
	}
	if c.Last > 0 {
		tail = starts[len(starts)-c.Last]
	}
	return head, tail
}

// indexOf is the index of the first event whose seq is at least seq.
func indexOf(events []*Event, seq int) int {
	for i, e := range events {
		if e.Seq >= seq {
			return i
		}
	}
	return len(events)
}

// inForce returns what events that are cut away have set for those behind them.
func inForce(events []*Event) []*Event {
	var set []*Event
	var prompt *Event
	for _, e := range events {
		switch e.Type() {
		case TypeConfigDelta, TypeMetadata:
			set = append(set, e)
		case TypePrompt:
			prompt = e
		}
	}
	if prompt != nil {
		set = append(set, prompt)
	}
	return set
}

// numbering copies events under dense numbers, and maps the source's numbers
// to the copy's.
type numbering struct {
	copies []*Event
	turn   int
	seqs   map[int]int
	gone   map[int]bool // what the source discarded
}

func (n *numbering) copy(events []*Event) {
	for _, e := range events {
		if n.gone[e.Seq] && takenBack(e.Type()) || e.Type() == TypeTurnDiscarded {
			continue
		}
		c := e.Clone()
		if !n.mapBody(c.Body) {
			continue
		}
		was := e.Seq
		if e.Was != nil {
			was = *e.Was
		}
		if e.Type() == TypeTurnStart || n.turn == 0 && e.Type().Protocol() {
			n.turn++
		}
		c.Was, c.Provider, c.Commit = &was, nil, ""
		c.Seq, c.Turn = len(n.copies), n.turn
		n.seqs[e.Seq] = c.Seq
		n.copies = append(n.copies, c)
	}
}

// mapBody maps the references in a body. It reports whether all that the body
// cannot do without are there; a response to what was cut away is not kept.
func (n *numbering) mapBody(b Body) bool {
	switch b := b.(type) {
	case *ToolStarted:
		return n.mapSeq(&b.For)
	case *ToolCallResponse:
		return n.mapSeq(&b.For)
	case *InquiryRequest:
		return n.mapSeq(&b.For)
	case *InquiryResponse:
		return n.mapSeq(&b.For)
	case *ChatRequest:
		if b.Replaces != nil {
			seq := *b.Replaces
			b.Replaces = nil
			if n.mapSeq(&seq) {
				b.Replaces = &seq
			}
		}
	case *Restored:
		return n.mapSeq(&b.AsOf)
	}
	return true
}

func (n *numbering) mapSeq(seq *int) bool {
	to, ok := n.seqs[*seq]
	if ok {
		*seq = to
	}
	return ok
}
