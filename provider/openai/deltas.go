package openai

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"jp/provider"
)

// deltas makes parts of the deltas of a chat completion, which lack the beginnings and ends of parts. Parts
// are numbered as they begin. Text and reasoning end when another part begins. Tool calls, whose pieces may
// come interleaved, end with the answer. So does a part that ends within a character when another begins,
// since the rest of the character may follow. If reasoning has details, which may come last of all, it is the
// first part, and all parts end with the answer.
type deltas struct {
	dialect    Dialect
	structured bool
	chunks     []provider.Chunk // to be taken
	held       []provider.Chunk // ends of parts that have to wait
	parts      int              // so far, without the one for reasoning with details
	text       *openText
	thought    *openThought
	calls      []*openCall
	refused    bool
}

// openText is text that has begun.
type openText struct {
	index int
	kind  provider.ChunkKind
	blank string // white space before the first word
	began bool
	end   string // its last bytes
	extra json.RawMessage
}

// openThought is reasoning that has begun.
type openThought struct {
	index   int
	field   string
	text    strings.Builder
	details []json.RawMessage
}

// openCall is a tool call that has begun.
type openCall struct {
	index int   // of the part
	at    int64 // as the server counts
	id    string
	extra json.RawMessage
}

// take returns the chunks since the last time.
func (d *deltas) take() []provider.Chunk {
	chunks := d.chunks
	d.chunks = nil
	return chunks
}

func (d *deltas) emit(c provider.Chunk) { d.chunks = append(d.chunks, c) }

// number is the index of the next part. The first is 1: 0 is kept for reasoning
// with details.
func (d *deltas) number() int {
	d.parts++
	return d.parts
}

// end closes a part.
func (d *deltas) end(index int, state chatState) {
	c := provider.Chunk{Kind: provider.ChunkClose, Index: index, Item: state.item()}
	if d.dialect.ReasoningDetails {
		d.held = append(d.held, c)
		return
	}
	d.emit(c)
}

func (d *deltas) add(delta chatDelta) {
	d.think(delta)
	content := contentOf(delta.Content)
	d.reason(content.thinking, "", nil)
	d.say(content.text, value(delta.Extra))
	if refusal := str(delta.Refusal); refusal != "" {
		d.refused = true
		d.say(refusal, nil)
	}
	for _, call := range delta.ToolCalls {
		d.call(call)
	}
}

func (d *deltas) think(delta chatDelta) {
	var details []json.RawMessage
	if d.dialect.ReasoningDetails {
		_ = json.Unmarshal(value(delta.Details), &details) // any other value counts as empty
	}
	if text := str(delta.ReasoningContent); text != "" {
		d.reason(text, "reasoning_content", details)
	} else if text := str(delta.Reasoning); text != "" {
		d.reason(text, "reasoning", details)
	} else {
		d.reason(detailText(details), "", details)
	}
}

func (d *deltas) reason(text, field string, details []json.RawMessage) {
	if text == "" && len(details) == 0 {
		return
	}
	if d.text != nil && !provider.CutText(d.text.end) && (d.thought == nil || !d.dialect.ReasoningDetails) {
		d.closeText()
	}
	if d.thought == nil {
		d.thought = &openThought{}
		if !d.dialect.ReasoningDetails {
			d.thought.index = d.number()
		}
	}
	d.thought.field = or(d.thought.field, field)
	d.thought.text.WriteString(text)
	d.thought.details = mergeDetails(d.thought.details, details)
	d.emit(provider.Chunk{Kind: provider.ChunkReasoning, Index: d.thought.index, Text: text})
}

// say adds text. It begins with the first word, since many servers send blanks
// before a tool call.
func (d *deltas) say(text string, extra json.RawMessage) {
	if text == "" && extra == nil {
		return
	}
	if d.text == nil {
		d.text = &openText{}
	}
	t := d.text
	if extra != nil {
		t.extra = extra
	}
	if !t.began {
		t.blank += text
		if strings.TrimSpace(t.blank) == "" {
			return
		}
		t.began, t.index, t.kind = true, d.number(), textKind(d.structured, t.blank)
		text = t.blank
	}
	if d.thought != nil && !provider.CutText(d.thought.text.String()) {
		d.closeThought(false)
	}
	t.end += text
	t.end = t.end[max(0, len(t.end)-2*utf8.UTFMax):]
	d.emit(provider.Chunk{Kind: t.kind, Index: t.index, Text: text})
}

// textKind is the kind of a text with this beginning: if a structured answer is wanted, JSON is one, and
// words are a message.
func textKind(structured bool, start string) provider.ChunkKind {
	start = strings.TrimSpace(start)
	if structured && start != "" && strings.ContainsAny(start[:1], `{["-0123456789`) {
		return provider.ChunkData
	}
	return provider.ChunkMessage
}

func (d *deltas) call(delta callDelta) {
	c := d.meant(delta)
	if c == nil {
		if d.text != nil && !provider.CutText(d.text.end) {
			d.closeText()
		}
		if d.thought != nil && !provider.CutText(d.thought.text.String()) {
			d.closeThought(false)
		}
		c = &openCall{index: d.number(), at: delta.number()}
		d.calls = append(d.calls, c)
	}
	c.id = or(c.id, delta.ID)
	if extra := value(delta.Extra); extra != nil {
		c.extra = extra
	}
	d.emit(provider.Chunk{
		Kind: provider.ChunkToolCall, Index: c.index,
		ToolID: delta.ID, Tool: delta.Function.Name, Text: argumentsOf(delta.Function.Arguments),
	})
}

// meant is the call that a delta continues, nil if it begins one. Some servers omit the number, or give all
// calls the same one.
func (d *deltas) meant(delta callDelta) *openCall {
	numbered := delta.Index != nil
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := d.calls[i]
		switch {
		case numbered && c.at != *delta.Index:
		case delta.ID == "" && (numbered || delta.Function.Name == ""):
			return c
		case delta.ID != "" && (c.id == delta.ID || c.id == "" && delta.Function.Name == ""):
			return c
		}
	}
	return nil
}

// close ends all parts, in their order.
func (d *deltas) close() {
	d.closeText()
	d.closeThought(true)
	for i, c := range d.calls {
		if c.id == "" {
			d.emit(provider.Chunk{Kind: provider.ChunkToolCall, Index: c.index, ToolID: "call_" + strconv.Itoa(i+1)})
		}
		d.end(c.index, chatState{Extra: c.extra})
	}
	d.chunks = append(d.chunks, d.held...)
}

func (d *deltas) closeText() {
	if t := d.text; t != nil && t.began {
		d.end(t.index, chatState{Extra: t.extra})
	}
	d.text = nil
}

// closeThought ends reasoning, unless its details may still come.
func (d *deltas) closeThought(last bool) {
	t := d.thought
	if t == nil || d.dialect.ReasoningDetails && !last {
		return
	}
	d.end(t.index, t.state(d.dialect))
	d.thought = nil
}

// state is the part of the reasoning that goes back.
func (t *openThought) state(d Dialect) chatState {
	s := chatState{}
	for _, detail := range t.details {
		s.Details = append(s.Details, provider.CleanText(detail))
	}
	text := provider.JoinText(t.text.String())
	switch {
	case d.ReasoningBack == ReasoningNever || text == "":
	case or(t.field, d.reasoningField()) == "reasoning":
		s.Reasoning = &text
	default:
		s.Content = &text
	}
	return s
}
