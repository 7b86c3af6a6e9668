package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/responses"

	"jp/conversation"
	"jp/provider"
)

// outputs reads the events of a response. Its items are the parts of the
// answer; the item of a part is that of the event which ends it, since the one
// which begins it may lack what comes later.
type outputs struct {
	structured bool
	chunks     []provider.Chunk // not taken yet
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
	plain   bool            // commentary, whatever it looks like
	text    strings.Builder // so far, without what is held back
	held    string          // blanks before the first word
	summary int64           // which part of a summary it is at
	closed  bool
}

func (o *outputs) read(data []byte) ([]provider.Chunk, error) {
	var event responses.ResponseStreamEventUnion
	if err := json.Unmarshal(data, &event); err != nil {
		return nil, fmt.Errorf("read an event of the answer: %w", err)
	}
	o.chunks = nil
	index := int(event.OutputIndex)
	switch event.Type {
	case "response.output_item.added":
		o.begin(index, json.RawMessage(event.Item.RawJSON()))
	case "response.output_text.delta":
		o.say(index, event.Delta)
	case "response.refusal.delta":
		o.refused = true
		o.say(index, event.Delta)
	case "response.function_call_arguments.delta":
		o.extend(o.item(index, provider.ChunkToolCall), event.Delta)
	case "response.reasoning_summary_text.delta":
		o.summarize(index, event.SummaryIndex, event.Delta)
	case "response.reasoning_text.delta":
		o.extend(o.item(index, provider.ChunkReasoning), event.Delta)
	case "response.output_item.done":
		o.close(index, json.RawMessage(event.Item.RawJSON()))
	case "response.completed", "response.incomplete":
		o.conclude(event.Response)
	case "response.failed":
		return nil, failed(event.Response)
	}
	return o.chunks, nil
}

func failed(r responses.Response) error {
	c := complaintIn([]byte(r.Error.RawJSON()))
	return &provider.Error{Class: c.class(0), Message: or(c.Message, "the response failed")}
}

func (o *outputs) whole() bool { return o.end != nil }

func (o *outputs) finish() ([]provider.Chunk, bool) {
	if o.end == nil {
		return nil, false
	}
	return []provider.Chunk{*o.end}, true
}

// item is the item of that index, begun where it has not.
func (o *outputs) item(index int, kind provider.ChunkKind) *openItem {
	if o.items == nil {
		o.items = map[int]*openItem{}
	}
	if o.items[index] == nil {
		o.items[index] = &openItem{index: index, kind: kind, known: kind != provider.ChunkMessage}
	}
	return o.items[index]
}

// begin opens an item, nil where its type is none that jp knows. Reasoning may
// never say a word and counts all the same.
func (o *outputs) begin(index int, raw json.RawMessage) *openItem {
	var item receivedItem
	_ = json.Unmarshal(raw, &item) // what cannot be read is of no known type
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
func (o *outputs) summarize(index int, at int64, text string) {
	i := o.item(index, provider.ChunkReasoning)
	if at != i.summary && i.text.Len() > 0 {
		text = "\n\n" + text
	}
	i.summary = at
	o.extend(i, text)
}

// close ends an item, with whatever of it did not come in pieces.
func (o *outputs) close(index int, raw json.RawMessage) {
	var item receivedItem
	i := o.begin(index, raw)
	if i == nil || i.closed {
		return
	}
	_ = json.Unmarshal(raw, &item) // a field of another form is left out
	i.held = ""
	switch i.kind {
	case provider.ChunkToolCall:
		o.extend(i, rest(item.Arguments, i.text.String()))
	case provider.ChunkMessage, provider.ChunkData:
		o.say(index, rest(item.text(), i.text.String()))
	}
	for _, c := range item.Content {
		o.refused = o.refused || c.Refusal != ""
	}
	i.closed = true
	o.emit(provider.Chunk{Kind: provider.ChunkClose, Index: index, Item: raw})
}

// rest is what of the whole text has not been said, "" where something else
// was.
func rest(whole, said string) string {
	left, ok := strings.CutPrefix(whole, said)
	if !ok {
		return ""
	}
	return left
}

// conclude ends the answer. Items that the server never ended are ended as the
// response has them.
func (o *outputs) conclude(r responses.Response) {
	for index, item := range r.Output {
		o.close(index, json.RawMessage(item.RawJSON()))
	}
	for _, index := range slices.Sorted(maps.Keys(o.items)) {
		if i := o.items[index]; !i.closed {
			o.emit(provider.Chunk{Kind: provider.ChunkClose, Index: i.index})
		}
	}
	o.end = &provider.Chunk{Kind: provider.ChunkFinish, Finish: o.why(r), Usage: responseUsage(r)}
}

func (o *outputs) why(r responses.Response) conversation.Finish {
	reason := r.IncompleteDetails.Reason
	switch {
	case o.refused:
		return conversation.FinishRefusal
	case reason == "content_filter":
		return conversation.FinishFiltered
	case reason != "" || r.Status == responses.ResponseStatusIncomplete:
		return conversation.FinishLength
	case o.called:
		return conversation.FinishToolCalls
	}
	return conversation.FinishStop
}

// responseUsage counts cached tokens among the input, as the server does.
func responseUsage(r responses.Response) *conversation.Usage {
	if !r.JSON.Usage.Valid() {
		return nil
	}
	return &conversation.Usage{
		Input: int(r.Usage.InputTokens), Output: int(r.Usage.OutputTokens),
		CacheRead:  int(r.Usage.InputTokensDetails.CachedTokens),
		CacheWrite: int(r.Usage.InputTokensDetails.CacheWriteTokens),
	}
}
