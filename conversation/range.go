package conversation

import "slices"

// A Range says which events of a conversation to keep. The zero value keeps all.
// Bounds are inclusive; turns are counted as readers see them.
type Range struct {
	From  *int // seq of the first event
	Until *int // seq of the last event
	First int  // keep only this many turns from the start
	Last  int  // keep only this many turns from the end
}

// Prefix reports whether the cut only takes events off the end, so that the rest can be shared with the
// source.
func (c Range) Prefix() bool {
	return (c.From == nil || *c.From <= 0) && c.Last == 0
}

// Select returns the events that the cut keeps. A cut that only takes events off the end returns the source's
// own events; any other returns copies that are numbered anew, with references mapped, turns that were
// discarded gone, and the model's opaque state dropped, since it is bound to the events before it. The
// settings of the events before a cut (configuration, metadata, the prompt) come with the copies. If events
// between two copies had changed files, a workspace event of its own stands for that. Its Paths are left to
// the caller. If the cut begins within a turn, the copies begin at a request in it: without its question, an
// answer has no meaning. The source is never changed. A cut that ends inside a turn leaves an incomplete
// turn.
func Select(events []*Event, cut Range) []*Event {
	gone := discarded(events)
	w := cut.window(events, gone)
	if w.empty() {
		return nil
	}
	if cut.Prefix() {
		return events[:w.head]
	}
	n := numbering{seqs: map[int]int{}, gone: gone, found: found(events)}
	first, _ := w.ends(events)
	n.tree = n.found[first.Seq]
	start := w.start
	if w.head == w.from || start != nil && gone[start.Seq] {
		start = nil
	}
	if start != nil && !slices.Contains(AfterAdoption(events[:w.from]), start) { // it stays behind an adoption
		n.begin(start)
		start = nil
	}
	n.set(events[:w.from], n.tree)
	if start != nil {
		n.begin(start)
	}
	n.copy(events[w.from:w.head])
	if w.tail < w.until {
		n.set(events[w.head:w.tail], n.tree)
		n.copy(events[w.tail:w.until])
	}
	return n.copies
}

// Ends are the first and the newest of the source's events that a cut keeps,
// or nil.
func (c Range) Ends(events []*Event) (first, newest *Event) {
	return c.window(events, discarded(events)).ends(events)
}

func (w window) ends(events []*Event) (first, newest *Event) {
	switch {
	case w.empty():
		return nil, nil
	case w.head == w.from:
		first = events[w.tail]
	default:
		first = events[w.from]
	}
	if w.tail < w.until {
		return first, events[w.until-1]
	}
	return first, events[w.head-1]
}

// A window is two ranges of indices: from up to head, tail up to until.
type window struct {
	from, head, tail, until int
	start                   *Event // of the turn that from lies in, if it is cut away
}

func (w window) empty() bool { return w.from >= w.head && w.tail >= w.until }

func (c Range) window(events []*Event, gone map[int]bool) window {
	w := window{until: len(events)}
	if c.From != nil {
		w.from = indexOf(events, *c.From)
	}
	if c.Until != nil {
		w.until = indexOf(events, *c.Until+1)
	}
	if w.from > 0 {
		w.from, w.start = requestBehind(events, w.from)
	}
	if w.from >= w.until {
		return window{}
	}
	head, tail := c.turns(events[w.from:w.until], gone)
	w.head, w.tail = w.from+head, w.from+tail
	return w
}

// requestBehind is the first index, from one on, at which a slice may begin: the next request of the turn,
// whose start is then returned, or the next turn.
func requestBehind(events []*Event, from int) (int, *Event) {
	var start *Event
	for _, e := range events[:from] {
		if e.Type() == TypeTurnStart {
			start = e
		}
	}
	if start == nil || from == len(events) {
		return from, nil
	}
	for i, e := range events[from:] {
		switch e.Type() {
		case TypeTurnStart:
			return from + i, nil
		case TypeChatRequest:
			return from + i, start
		}
	}
	return len(events), nil
}

// turns returns how many events to keep at the start, and the index from which
// on to keep them again.
func (c Range) turns(events []*Event, gone map[int]bool) (head, tail int) {
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

// inForce returns the settings of events that are cut away, for those behind them. Settings before an
// adoption stay without effect: the adoption is among the results, and no setting before it.
func inForce(events []*Event) []*Event {
	var set []*Event
	var prompt *Event
	for _, e := range events {
		switch e.Type() {
		case TypeConfigDelta, TypeMetadata:
			set = append(set, e)
		case TypePrompt:
			prompt = e
		case TypeForkOrigin:
			if adopts(e) {
				set = append(slices.DeleteFunc(set, func(e *Event) bool { return e.Type() != TypeMetadata }), e)
			}
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
	gone   map[int]bool   // discarded events of the source
	found  map[int]string // the tree that each of the source's events found
	tree   string         // of the newest copy
}

// found is which tree each event found; the first one found its own.
func found(events []*Event) map[int]string {
	trees := map[int]string{}
	for i, e := range events {
		trees[e.Seq] = events[max(i-1, 0)].Tree
	}
	return trees
}

// set copies the settings of events that are cut away, onto a tree.
func (n *numbering) set(events []*Event, tree string) {
	n.tree = tree
	for _, e := range inForce(events) {
		c := e.Clone()
		c.Tree = tree
		n.add(e, c)
	}
}

// begin copies the start of a turn whose first events are cut away.
func (n *numbering) begin(e *Event) {
	c := e.Clone()
	c.Tree = n.tree
	n.add(e, c)
}

func (n *numbering) copy(events []*Event) {
	for _, e := range events {
		if n.gone[e.Seq] && coveredByDiscard(e.Type()) || e.Type() == TypeTurnDiscarded {
			continue
		}
		c := e.Clone()
		if !n.mapBody(c.Body) {
			continue
		}
		if n.gone[e.Seq] && !e.Type().ChangesFiles() { // a setting of a discarded turn
			c.Tree = n.tree
		} else {
			n.stand(e)
		}
		n.add(e, c)
	}
}

// stand puts a workspace event before an event that found other files than the
// newest copy left.
func (n *numbering) stand(e *Event) {
	if tree := n.found[e.Seq]; tree != n.tree && len(n.copies) > 0 {
		n.put(&Event{Body: &Workspace{Cut: true}, Time: e.Time, Tree: tree, Version: Version})
	}
}

// add adds the copy of an event.
func (n *numbering) add(e, c *Event) {
	was := e.Seq
	if e.Was != nil {
		was = *e.Was
	}
	if e.Type() == TypeTurnStart || n.turn == 0 && e.Type().Protocol() {
		n.turn++
	}
	c.Was, c.Provider, c.Commit = &was, nil, ""
	switch e.Type() {
	case TypeTurnStart, TypeTurnDone, TypeRestored: // their lines name numbers
		c.Subject = ""
	}
	n.seqs[e.Seq] = len(n.copies)
	n.put(c)
}

func (n *numbering) put(c *Event) {
	c.Seq, c.Turn = len(n.copies), n.turn
	n.tree = c.Tree
	n.copies = append(n.copies, c)
}

// mapBody maps the references in a body. It is false if a required one is missing, such as the request of a
// response. The event is then dropped.
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
	case *Withholding:
		return n.mapSeq(&b.For)
	case *Instructions:
		if b.For != nil {
			seq := *b.For
			b.For = &seq
			return n.mapSeq(b.For)
		}
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
	case *Compaction, *CompactionUndone: // the copy has the events themselves
		return false
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
