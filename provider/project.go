package provider

import (
	"slices"

	"jp/compaction"
	"jp/conversation"
)

// Project returns the messages of a request to the target, from the events of a conversation. It is pure, and
// append-only: once the model has answered, the messages before that answer stay the same, except after a
// discard, a slice or a change of the prompt.
//
// It takes all events, with an incomplete last turn. Earlier turns are repaired by [conversation.Sanitize],
// the last one stays as it is. The messages are valid after every event: they begin with the user, every tool
// call has its result directly behind its message, and if the model speaks next, they do not end with its own
// words.
func Project(events []*conversation.Event, target Target) []Message {
	parts, _ := projected(events, target, nil)
	return messagesOf(parts)
}

// knownMessages is Project, and the complete turns with which the messages begin: nil without known, and if a
// summary replaces some.
func knownMessages(events []*conversation.Event, target Target, known *CompleteTurns) ([]Message, *projectedTurns) {
	parts, turns := projected(events, target, known)
	return slices.Concat(turns.before(), messagesOf(parts)), turns
}

func messagesOf(parts []part) []Message {
	if len(parts) == 0 {
		return nil
	}
	messages := make([]Message, len(parts))
	for i, x := range parts {
		messages[i] = x.Message
	}
	return messages
}

// A Sourced is a message with the seqs of the events that its blocks are from. A block for several events has
// -1.
type Sourced struct {
	Message
	From []int
}

// ProjectSourced is Project with the source of each block.
func ProjectSourced(events []*conversation.Event, target Target) []Sourced {
	var messages []Sourced
	parts, _ := projected(events, target, nil)
	for _, x := range parts {
		messages = append(messages, Sourced{x.Message, x.from})
	}
	return messages
}

// projected returns the parts of the messages behind the settled ones of complete turns, and these turns. It
// returns all parts, and nil, without known, and if a summary replaces some turns.
func projected(events []*conversation.Event, target Target, known *CompleteTurns) ([]part, *projectedTurns) {
	complete, tail := conversation.SplitTail(events)
	p := projection{target: target, gaps: gapsOf(events), ids: newWireIDs(nil), force: compaction.InForce(events)}
	turns := known.of(complete.Events(), p)
	var relied []*conversation.Event
	if turns != nil {
		p.pieces, p.ids = slices.Clone(turns.pieces), newWireIDs(turns.ids)
	} else {
		relied = conversation.Sanitize(complete.Events())
	}
	if tail != nil {
		relied = append(relied[:len(relied):len(relied)], tail.Events...)
	}
	head := p.head(relied)
	for turn := range conversation.Turns(relied) {
		pieces := p.turn(turn)
		if turn.Last() > p.force.To() {
			pieces, head = append(head, pieces...), nil
		}
		p.add(pieces)
	}
	p.add(head)
	pieces := p.pieces
	if tail != nil {
		pieces = withoutLastWords(pieces)
	}
	return merge(withoutOldReports(pieces)), turns
}

// head stands for the events that a summary covers. It is empty without a summary.
func (p *projection) head(events []*conversation.Event) []part {
	if p.force.Summary == nil {
		return nil
	}
	var blocks []Block
	for _, text := range compaction.HeadOf(events, p.force.Summary, p.target.text).Blocks(p.target.text, p.attachedText) {
		if text = cleanText(text); !blank(text) {
			blocks = append(blocks, Block{Kind: BlockText, Text: text})
		}
	}
	return appendUser(nil, blocks, -1, false)
}

// attachedText is the text of an attachment. ok is false if it is missing here, or a server refused it.
func (p *projection) attachedText(e *conversation.Event, name string) (string, bool) {
	payload := e.Payload(name)
	if payload == nil || slices.Contains(p.gaps.withheld[e.Seq], name) {
		return "", false
	}
	data, ok := p.target.content(*payload)
	return string(data), ok
}

// A part is the contribution of one place of the log to the messages.
type part struct {
	Message
	from   []int // the seqs of the blocks' events
	report bool  // a report of a resume
	pause  bool  // the provider interrupted the model, which continues later
}

// projection collects the pieces of a conversation.
type projection struct {
	target Target
	gaps   gaps
	ids    *wireIDs
	force  compaction.Force
	nested map[int][]*conversation.Event // of the turn
	times  map[int]int                   // how often each model call of the turn came with the same results in a row, by its ordinal
	pieces []part
}

// add appends the pieces of one turn. It drops the model's words before the first request. Of the model's
// words twice in a row it keeps the later ones, since jp asked anew and never sent the earlier ones.
func (p *projection) add(turn []part) {
	first := slices.IndexFunc(turn, func(x part) bool { return x.Role == conversation.RoleUser })
	if first < 0 {
		return
	}
	for _, x := range turn[first:] {
		p.pieces = append(withoutRepeated(p.pieces, x), x)
	}
}

func withoutRepeated(pieces []part, next part) []part {
	if next.Role == conversation.RoleAssistant {
		return withoutLastWords(pieces)
	}
	return pieces
}

// withoutLastWords drops an assistant's message from the end, unless the
// provider waits to see it again.
func withoutLastWords(pieces []part) []part {
	if n := len(pieces); n > 0 && pieces[n-1].Role == conversation.RoleAssistant && !pieces[n-1].pause {
		return pieces[:n-1]
	}
	return pieces
}

// withoutOldReports drops the report of a resume if a later resume followed before the model's answer.
func withoutOldReports(pieces []part) []part {
	kept := make([]part, 0, len(pieces))
	newer := false
	for _, x := range slices.Backward(pieces) {
		if x.report && newer {
			continue
		}
		newer = x.report || newer && x.Role != conversation.RoleAssistant
		kept = append(kept, x)
	}
	slices.Reverse(kept)
	return kept
}

// merge makes one message of neighbouring user texts.
func merge(pieces []part) []part {
	var messages []part
	for _, x := range pieces {
		n := len(messages)
		if x.Role == conversation.RoleUser && n > 0 && messages[n-1].Role == conversation.RoleUser {
			messages[n-1].Blocks = append(messages[n-1].Blocks, x.Blocks...)
			messages[n-1].from = append(messages[n-1].from, x.from...)
			continue
		}
		messages = append(messages, x)
	}
	return messages
}

// gaps are the places at which the sent messages have changed.
type gaps struct {
	covered []span // discarded
	stale   []span // with opaque state for a history that has changed
	// withheld are the names of omitted attachments, by the seq of their event.
	withheld map[int][]string
}

// A span is a range of seqs, both ends included.
type span struct{ from, to int }

func (s span) has(seq int) bool { return s.from <= seq && seq <= s.to }

// gapsOf finds the gaps. A discard makes the state behind its range stale; a new prompt, and the adoption of
// someone else's conversation, all state before it.
func gapsOf(events []*conversation.Event) gaps {
	var g gaps
	for _, s := range compaction.InForce(events).Stale {
		g.stale = append(g.stale, span{s.From, s.To})
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.TurnDiscarded:
			g.covered = append(g.covered, span{b.FromSeq, b.ToSeq})
			g.stale = append(g.stale, span{b.FromSeq, e.Seq})
		case *conversation.Withholding:
			if g.withheld == nil {
				g.withheld = map[int][]string{}
			}
			g.withheld[b.For] = append(g.withheld[b.For], b.Attachments...)
			g.stale = append(g.stale, span{b.For, e.Seq})
		case *conversation.Prompt:
			g.stale = append(g.stale, span{0, e.Seq})
		case *conversation.ForkOrigin:
			if b.Adopted {
				g.stale = append(g.stale, span{0, e.Seq})
			}
		}
	}
	return g
}

func (g gaps) discarded(seq int) bool {
	return slices.ContainsFunc(g.covered, func(s span) bool { return s.has(seq) })
}

func (g gaps) keepsState(seq int) bool {
	return !slices.ContainsFunc(g.stale, func(s span) bool { return s.has(seq) })
}
