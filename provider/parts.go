package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jp/conversation"
)

// A Part is one whole part of an answer.
type Part struct {
	Kind  ChunkKind // ChunkMessage, ChunkReasoning, ChunkData or ChunkToolCall
	Index int       // the provider's
	Text  string    // of all kinds but a tool call

	ToolID       string
	Tool         string          // wire name
	Arguments    json.RawMessage // an object, indented; {} if Malformed
	Malformed    bool            // the model's text is not a JSON object
	Repaired     bool            // the model's text was damaged, and has one reading
	RawArguments string          // the model's text, if Malformed or Repaired

	Item json.RawMessage // the item as received, to be sent back unchanged
}

// ChatPart is which part of a chat response the part is, "" for a tool call.
func (p Part) ChatPart() conversation.Part {
	switch p.Kind {
	case ChunkMessage:
		return conversation.PartMessage
	case ChunkReasoning:
		return conversation.PartReasoning
	case ChunkData:
		return conversation.PartData
	}
	return ""
}

// An Assembler puts the chunks of one answer together. It returns parts in the order of their indices: a
// complete part waits for open ones before it. The zero value is ready for use.
type Assembler struct {
	parts    []*openPart // by index, those still to be returned
	gone     map[int]bool
	calls    map[string]bool // tool calls already returned, by their identity
	repeated []Part
	finished bool
}

// openPart is a part that has begun.
type openPart struct {
	index    int
	kind     ChunkKind
	text     strings.Builder
	id, tool string
	item     json.RawMessage
	closed   bool
}

// Add takes the next chunk and returns the completed parts, in order. It ignores a chunk for a part that is
// already complete, or of another kind than its part. After a ChunkFinish it returns all completed parts. It
// returns a repeated tool call, with the same id, name and arguments, only once.
func (a *Assembler) Add(c Chunk) ([]Part, error) {
	if a.finished {
		return nil, ErrFinished
	}
	switch c.Kind {
	case ChunkMessage, ChunkReasoning, ChunkData, ChunkToolCall:
		a.extend(c)
		return nil, nil
	case ChunkClose:
		a.close(c)
		return a.whole(false), nil
	case ChunkFinish:
		a.finished = true
		return a.whole(true), nil
	case ChunkKeepAlive:
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %d", ErrChunk, c.Kind)
}

// Partial returns the text and reasoning so far of open parts, in the order of their indices. It leaves out
// tool calls and structured answers, since half of one is useless.
func (a *Assembler) Partial() []Part {
	var parts []Part
	for _, p := range a.parts {
		text := p.text.String()
		if (p.kind == ChunkMessage || p.kind == ChunkReasoning) && !p.closed && !blank(text) {
			parts = append(parts, Part{Kind: p.kind, Index: p.index, Text: text})
		}
	}
	return parts
}

// Before is how many unreturned parts with a lower index belong to the answer so far.
func (a *Assembler) Before(index int) (n int) {
	for _, p := range a.parts {
		if p.index < index && (p.kind == ChunkToolCall || p.says()) {
			n++
		}
	}
	return n
}

// Repeated returns the repeated tool calls since the last time, which Add left out.
func (a *Assembler) Repeated() []Part {
	repeated := a.repeated
	a.repeated = nil
	return repeated
}

func (a *Assembler) find(index int) (int, bool) {
	return slices.BinarySearchFunc(a.parts, index, func(p *openPart, i int) int { return p.index - i })
}

func (a *Assembler) extend(c Chunk) {
	at, found := a.find(c.Index)
	if !found {
		if a.gone[c.Index] {
			return
		}
		a.parts = slices.Insert(a.parts, at, &openPart{index: c.Index, kind: c.Kind})
	}
	p := a.parts[at]
	if p.closed || p.kind != c.Kind {
		return
	}
	p.text.WriteString(c.Text)
	if p.id == "" {
		p.id = c.ToolID
	}
	if p.tool == "" {
		p.tool = c.Tool
	}
}

func (a *Assembler) close(c Chunk) {
	if at, found := a.find(c.Index); found && !a.parts[at].closed {
		a.parts[at].closed, a.parts[at].item = true, c.Item
	}
}

// whole takes out the completed parts: up to the first open part, or all of them.
func (a *Assembler) whole(all bool) []Part {
	var parts []Part
	kept := a.parts[:0]
	waits := false
	for _, p := range a.parts {
		waits = waits || !p.closed && !all
		if !p.closed || waits {
			kept = append(kept, p)
			continue
		}
		if a.gone == nil {
			a.gone = map[int]bool{}
		}
		a.gone[p.index] = true
		switch part, something := p.part(); {
		case !something:
		case a.again(part):
			a.repeated = append(a.repeated, part)
		default:
			parts = append(parts, part)
		}
	}
	clear(a.parts[len(kept):])
	a.parts = kept
	return parts
}

// again reports whether a part is a tool call that came out before. Two calls
// without an id are two calls, however alike they are.
func (a *Assembler) again(p Part) bool {
	if p.Kind != ChunkToolCall || p.ToolID == "" {
		return false
	}
	arguments, err := conversation.Canonical(p.Arguments)
	if err != nil || p.Malformed {
		arguments = []byte(p.RawArguments)
	}
	key := strings.Join([]string{p.ToolID, p.Tool, strconv.FormatBool(p.Malformed), string(arguments)}, "\x00")
	if a.calls == nil {
		a.calls = map[string]bool{}
	}
	seen := a.calls[key]
	a.calls[key] = true
	return seen
}

// part is the part that p has become, and whether it is one of the answer.
func (p *openPart) part() (Part, bool) {
	part := Part{Kind: p.kind, Index: p.index, Item: p.item}
	if p.kind != ChunkToolCall {
		part.Text = p.text.String()
		return part, p.says()
	}
	part.ToolID, part.Tool = p.id, p.tool
	var ok bool
	if part.Arguments, ok = indentObject(p.text.String()); ok {
		return part, true
	}
	part.RawArguments = p.text.String()
	if repaired, ok := repairArguments(part.RawArguments); ok {
		part.Arguments, part.Repaired = repaired, true
		return part, true
	}
	part.Malformed = true
	return part, true
}

// says reports whether a part other than a tool call has content. Reasoning without text has some if it has
// an item.
func (p *openPart) says() bool {
	return !blank(p.text.String()) || p.kind == ChunkReasoning && len(p.item) > 0
}

// indentObject lays a JSON object out with two spaces a level, and changes only white space. An empty text is
// the empty object. Any other text that jp cannot keep as an object becomes the empty object, too, with
// false.
func indentObject(text string) (json.RawMessage, bool) {
	if blank(text) {
		return json.RawMessage("{}"), true
	}
	var out bytes.Buffer
	if _, err := conversation.ParseObject([]byte(text)); err != nil {
		return json.RawMessage("{}"), false
	}
	if err := json.Indent(&out, bytes.TrimSpace([]byte(text)), "", "  "); err != nil {
		return json.RawMessage("{}"), false
	}
	return out.Bytes(), true
}
