package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// outputs reads the events of a response. Its items are the parts of the answer. The item of a part comes
// from the event at its end, since the one at its beginning may lack fields.
type outputs struct {
	structured bool
	chunks     []provider.Chunk // to be taken
	items      map[int]*openItem
	refused    bool
	called     bool
	end        *provider.Chunk
}

// openItem is an item that has begun.
type openItem struct {
	index   int
	kind    provider.ChunkKind
	known   bool            // kind is known
	named   bool            // the item itself has been seen
	plain   bool            // commentary, in any form
	text    strings.Builder // so far, without the held part
	held    string          // blanks before the first word
	summary int             // which part of a summary it is at
	closed  bool
}

// Read implements [stream.Reader].
func (o *outputs) Read(data []byte) ([]provider.Chunk, error) {
	var event responseEvent
	if err := decode(data, &event); err != nil {
		return nil, fmt.Errorf("read an event of the answer: %w", err)
	}
	o.chunks = nil
	index := event.OutputIndex
	delta := func() string { return str(event.Delta) }
	switch event.Type {
	case "": // a whole answer, from a server that does not stream
		return o.chunks, o.response(data)
	case "response.output_item.added":
		o.begin(index, event.Item)
	case "response.output_text.delta":
		o.say(index, delta())
	case "response.refusal.delta":
		o.refused = true
		o.say(index, delta())
	case "response.function_call_arguments.delta":
		o.extend(o.item(index, provider.ChunkToolCall), delta())
	case "response.output_text.done":
		if event.ContentIndex > 0 {
			break // its text lacks that of the earlier parts
		}
		o.complete(o.item(index, provider.ChunkMessage), event.Text)
	case "response.function_call_arguments.done":
		o.complete(o.item(index, provider.ChunkToolCall), event.Arguments)
	case "response.reasoning_summary_text.delta":
		o.summarize(index, event.SummaryIndex, delta())
	case "response.reasoning_text.delta":
		o.extend(o.item(index, provider.ChunkReasoning), delta())
	case "response.output_item.done":
		o.close(index, event.Item)
	case "response.completed", "response.incomplete":
		o.conclude(event.Response)
	case "response.failed":
		return nil, failed(event.Response)
	}
	return o.chunks, nil
}

// response takes a bare response, without an event.
func (o *outputs) response(data []byte) error {
	var r response
	if decode(data, &r) != nil || r.Object != "response" {
		return nil
	}
	switch r.Status {
	case "failed", "cancelled":
		return failed(r)
	case "in_progress", "queued":
		return nil
	}
	o.conclude(r)
	return nil
}

func failed(r response) error {
	c := provider.ComplaintIn(r.Error)
	return &provider.Error{Class: classOf(c, 0), Message: or(c.Message, "the response failed")}
}

// Reported implements [stream.Reader].
func (o *outputs) Reported(data []byte) error { return reported(data) }

// Finished implements [stream.Reader].
func (o *outputs) Finished() bool { return o.end != nil }

// Whole implements [stream.Reader].
func (o *outputs) Whole() bool { return o.end != nil }

// End implements [stream.Reader].
func (o *outputs) End() []provider.Chunk { return []provider.Chunk{*o.end} }

// item is the item of that index. It begins one if necessary.
func (o *outputs) item(index int, kind provider.ChunkKind) *openItem {
	if o.items == nil {
		o.items = map[int]*openItem{}
	}
	if o.items[index] == nil {
		o.items[index] = &openItem{index: index, kind: kind, known: kind != provider.ChunkMessage}
	}
	return o.items[index]
}

// begin opens an item. It returns nil if jp does not know its type. Reasoning without any text counts, too.
func (o *outputs) begin(index int, raw json.RawMessage) *openItem {
	var item receivedItem
	_ = json.Unmarshal(raw, &item) // an unreadable item has no known type
	kind, known := map[string]provider.ChunkKind{
		"message": provider.ChunkMessage, "reasoning": provider.ChunkReasoning, "function_call": provider.ChunkToolCall,
	}[item.Type]
	if !known {
		return nil
	}
	i := o.item(index, kind)
	if i.named {
		return i
	}
	i.named, i.plain = true, item.Phase == "commentary"
	if kind != provider.ChunkMessage {
		o.emit(provider.Chunk{Kind: kind, Index: index, ToolID: item.CallID, Tool: item.Name})
	}
	o.called = o.called || kind == provider.ChunkToolCall
	return i
}

func (o *outputs) emit(c provider.Chunk) { o.chunks = append(o.chunks, c) }

func (o *outputs) extend(i *openItem, text string) {
	if text == "" || i.closed {
		return
	}
	i.text.WriteString(text)
	o.emit(provider.Chunk{Kind: i.kind, Index: i.index, Text: text})
}

// say adds text to a message, from its first word on, which shows whether it is
// the structured answer.
func (o *outputs) say(index int, text string) {
	i := o.item(index, provider.ChunkMessage)
	if i.known {
		o.extend(i, text)
		return
	}
	i.held += text
	if strings.TrimSpace(i.held) == "" {
		return
	}
	i.known, i.kind = true, textKind(o.structured && !i.plain, i.held)
	o.extend(i, i.held)
}

// summarize adds to a summary, whose parts are paragraphs.
func (o *outputs) summarize(index, at int, text string) {
	i := o.item(index, provider.ChunkReasoning)
	if at != i.summary && i.text.Len() > 0 {
		text = "\n\n" + text
	}
	i.summary = at
	o.extend(i, text)
}

// close ends an item, and adds the rest that did not come in pieces.
func (o *outputs) close(index int, raw json.RawMessage) {
	var item receivedItem
	i := o.begin(index, raw)
	if i == nil || i.closed {
		return
	}
	_ = json.Unmarshal(raw, &item) // a field of another form is left out
	switch i.kind {
	case provider.ChunkToolCall:
		o.complete(i, item.Arguments)
	case provider.ChunkMessage, provider.ChunkData:
		o.complete(i, item.text())
	case provider.ChunkReasoning:
		o.complete(i, item.thought())
	}
	for _, c := range item.Content {
		o.refused = o.refused || c.Refusal != ""
	}
	i.closed = true
	o.emit(provider.Chunk{Kind: provider.ChunkClose, Index: index, Item: raw})
}

// complete adds the rest of an item's whole text, if the text so far is its beginning.
func (o *outputs) complete(i *openItem, whole string) {
	left, ok := provider.RestOfText(whole, i.text.String())
	switch {
	case !ok:
	case i.kind == provider.ChunkToolCall, i.kind == provider.ChunkReasoning:
		o.extend(i, left)
	default:
		i.held = ""
		o.say(i.index, left)
	}
}

// conclude ends the answer. It ends all open items as in the response.
func (o *outputs) conclude(r response) {
	for index, item := range r.Output {
		o.close(index, item)
	}
	for _, index := range slices.Sorted(maps.Keys(o.items)) {
		if i := o.items[index]; !i.closed {
			o.emit(provider.Chunk{Kind: provider.ChunkClose, Index: i.index})
		}
	}
	o.end = &provider.Chunk{Kind: provider.ChunkFinish, Finish: o.why(r), Usage: responseUsage(r)}
}

func (o *outputs) why(r response) conversation.Finish {
	reason := r.IncompleteDetails.Reason
	switch {
	case o.refused:
		return conversation.FinishRefusal
	case reason == "content_filter":
		return conversation.FinishFiltered
	case provider.IsContextReason(reason):
		return conversation.FinishContext
	case reason != "" || r.Status == "incomplete":
		return conversation.FinishLength
	case o.called:
		return conversation.FinishToolCalls
	}
	return conversation.FinishStop
}

// responseUsage counts cached tokens among the input, as the server does.
func responseUsage(r response) *conversation.Usage {
	if r.Usage == nil {
		return nil
	}
	u := r.Usage
	return &conversation.Usage{
		Input: int(u.Input), Output: int(u.Output), CacheRead: int(u.InputDetails.Cached), CacheWrite: int(u.InputDetails.CacheWrite), CostUSD: stated(u.Cost),
	}
}
