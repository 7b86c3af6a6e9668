package provider

import (
	"slices"
	"strings"

	"jp/conversation"
)

// turn returns the pieces of one turn, in the order in which they are sent: a model call is at its beginning,
// its results directly behind it, and the user's words in the meantime behind those.
func (p *projection) turn(turn conversation.Turn) []part {
	events := slices.DeleteFunc(slices.Clone(turn.Events), func(e *conversation.Event) bool { return p.gaps.discarded(e.Seq) })
	ledger := conversation.LedgerOf(events)
	if len(ledger.Requests) == 0 {
		return nil
	}
	sent := events[conversation.RefusedUntil(ledger, events):]
	p.nested, p.times = nestedIn(sent), map[int]int{}
	for _, r := range ledger.Repetitions() {
		p.times[r.Ordinal] = r.Times
	}
	var pieces []part
	for _, e := range sent {
		if p.force.Covers(e.Seq) {
			continue // the head replaces it
		}
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			if !ledger.Replaced(e.Seq) {
				pieces = appendUser(pieces, append(p.files(e, b.Attachments), p.said(e)...), e.Seq, false)
			}
		case *conversation.TurnStart:
			if told := cleanText(b.Environment); !blank(told) {
				pieces = appendUser(pieces, []Block{{Kind: BlockText, Text: told}}, e.Seq, false)
			}
		case *conversation.Note:
			pieces = appendUser(pieces, p.said(e), e.Seq, false)
		case *conversation.Instructions:
			if b.For == nil || slices.ContainsFunc(ledger.Requests, func(r *conversation.Event) bool { return r.Seq == *b.For }) {
				pieces = appendUser(pieces, p.said(e), e.Seq, false)
			}
		case *conversation.Resumed:
			pieces = appendUser(pieces, p.said(e), e.Seq, true)
		case *conversation.ChatResponse, *conversation.ToolCallRequest:
			if call := startedBy(ledger, e); call != nil {
				pieces = append(pieces, p.call(events, ledger, call)...)
			}
		}
	}
	return pieces
}

// nestedIn are the instructions that go with the result of a tool, by the seq of its response.
func nestedIn(events []*conversation.Event) map[int][]*conversation.Event {
	var nested map[int][]*conversation.Event
	for _, e := range events {
		if b, ok := e.Body.(*conversation.Instructions); ok && b.For != nil {
			if nested == nil {
				nested = map[int][]*conversation.Event{}
			}
			nested[*b.For] = append(nested[*b.For], e)
		}
	}
	return nested
}

// startedBy is the model call whose first event is e, else nil.
func startedBy(ledger *conversation.Ledger, e *conversation.Event) *conversation.ModelCall {
	if call := ledger.ModelCall(e); call != nil && call.Events[0] == e {
		return call
	}
	return nil
}

// said is the event's text as a block, empty if it is blank.
func (p *projection) said(e *conversation.Event) []Block {
	text := p.target.text(e)
	if blank(text) {
		return nil
	}
	return []Block{{Kind: BlockText, Text: text}}
}

// files are the blocks of the attachments of an event. A description replaces those that a server refused.
func (p *projection) files(e *conversation.Event, attached []conversation.Attachment) []Block {
	withheld := p.gaps.withheld[e.Seq]
	if len(withheld) == 0 {
		return p.target.files(e, attached)
	}
	var blocks []Block
	for _, a := range attached {
		if !slices.Contains(withheld, a.Name) {
			blocks = append(blocks, p.target.files(e, []conversation.Attachment{a})...)
			continue
		}
		var size int64
		if payload := e.Payload(a.Name); payload != nil {
			size = payload.Bytes
		}
		blocks = append(blocks, Block{Kind: BlockText, Text: withheldFile(cleanText(a.Name), cleanText(a.MediaType), size)})
	}
	return blocks
}

func appendUser(pieces []part, blocks []Block, seq int, report bool) []part {
	if len(blocks) == 0 {
		return pieces
	}
	return append(pieces, part{Message: Message{Role: conversation.RoleUser, Blocks: blocks}, from: sameSeq(nil, seq, len(blocks)), report: report})
}

// sameSeq adds a seq for each of some blocks.
func sameSeq(from []int, seq, blocks int) []int {
	for range blocks {
		from = append(from, seq)
	}
	return from
}

// call returns the message of one model call, and behind it the results of the
// tools that it asked for.
func (p *projection) call(events []*conversation.Event, ledger *conversation.Ledger, call *conversation.ModelCall) []part {
	kept := (!call.Ended() || slices.ContainsFunc(call.Events, partial)) && keptByUser(events, call)
	if !call.Ended() && !kept {
		return nil
	}
	var blocks, results []Block
	var from, answered []int
	for _, e := range call.Events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			said := p.response(e, b, call, kept)
			blocks, from = append(blocks, said...), sameSeq(from, e.Seq, len(said))
		case *conversation.ToolCallRequest:
			id := p.ids.take(b.ID, e.Seq, p.target.gave(e))
			block := p.toolCall(e, b, id)
			block.Given = id == b.ID && p.target.gave(e)
			blocks, from = append(blocks, block), append(from, e.Seq)
			asked, seq := ledger.ToolCall(e.Seq), e.Seq
			if asked.Response != nil {
				seq = asked.Response.Seq
			}
			given := p.result(asked, id)
			results, answered = append(results, given...), sameSeq(answered, seq, len(given))
		}
	}
	blocks = withoutLastReasoning(blocks)
	if len(blocks) == 0 {
		return nil
	}
	pieces := []part{{
		Message: Message{Role: conversation.RoleAssistant, Blocks: blocks},
		from:    from[:len(blocks)],
		pause:   call.Finish == conversation.FinishPause && !call.HasTools,
	}}
	if len(results) > 0 {
		pieces = append(pieces, part{Message: Message{Role: conversation.RoleTool, Blocks: results}, from: answered})
	}
	return pieces
}

func partial(e *conversation.Event) bool {
	b, ok := e.Body.(*conversation.ChatResponse)
	return ok && b.Partial
}

// keptByUser reports whether the user took note of the text of a broken call, by stopping there, or by a
// reply to it. A report of a resume replaces the text, since it quotes it, and so does a newer call.
func keptByUser(events []*conversation.Event, call *conversation.ModelCall) bool {
	last := slices.Index(events, call.Events[len(call.Events)-1])
	for _, e := range events[last+1:] {
		switch b := e.Body.(type) {
		case *conversation.TurnStopped:
			return true
		case *conversation.ChatRequest:
			if b.Interrupt {
				return true
			}
		case *conversation.Resumed:
			if !blank(b.Message) {
				return false
			}
		case *conversation.ChatResponse, *conversation.ToolCallRequest:
			return false
		}
	}
	return false
}

// response returns the block of one part of an answer. A call that broke off without asking for a tool leaves
// only text, and a part that broke off only the part that the user kept.
func (p *projection) response(e *conversation.Event, b *conversation.ChatResponse, call *conversation.ModelCall, kept bool) []Block {
	broken := !call.Ended()
	if b.Partial && !kept || (broken || b.Partial) && b.Part != conversation.PartMessage {
		return nil
	}
	block := Block{Kind: BlockText, Text: p.target.text(e)}
	if broken || b.Partial {
		block.Text = strings.TrimRight(block.Text, " \t\r\n")
	} else {
		block.Item = p.item(e)
	}
	switch b.Part {
	case conversation.PartReasoning:
		block.Kind = BlockReasoning
		if len(block.Item) == 0 {
			return nil
		}
		return []Block{block}
	case conversation.PartData:
		if canonical, err := conversation.Canonical([]byte(block.Text)); err == nil {
			block.Text = string(canonical)
		}
	}
	if blank(block.Text) {
		return nil
	}
	return []Block{block}
}

func (p *projection) item(e *conversation.Event) []byte {
	if !p.gaps.keepsState(e.Seq) {
		return nil
	}
	return p.target.item(e)
}

// withoutLastReasoning drops reasoning at the end of a message, since providers refuse it there.
func withoutLastReasoning(blocks []Block) []Block {
	for len(blocks) > 0 && blocks[len(blocks)-1].Kind == BlockReasoning {
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}
