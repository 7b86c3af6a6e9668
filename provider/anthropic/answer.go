package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"jp/conversation"
	"jp/provider"
)

// errBroken means that events do not make an answer.
var errBroken = errors.New("the stream makes no sense")

// An answer turns events into chunks. Gateways omit many parts of the protocol: numbers and ends of blocks,
// figures, even the beginning of a text.
type answer struct {
	text     provider.ChunkKind // the kind of text
	open     map[int]*block     // open blocks, by the server's number
	parts    map[int]bool       // numbers of parts that are taken
	calls    bool               // a tool was called
	cut      bool               // a block was ended by something else than its end
	usage    conversation.Usage // without the input
	uncached int                // tokens of the input outside of caches; the API counts only them as input
	stop     sdk.StopReason
	ended    bool
}

func newAnswer(structured bool) *answer {
	a := &answer{text: provider.ChunkMessage, open: map[int]*block{}, parts: map[int]bool{}}
	if structured {
		a.text = provider.ChunkData
	}
	return a
}

// Read takes the data of the next event and returns the chunks that it makes. It ignores events of unknown
// types.
func (a *answer) Read(data []byte) ([]provider.Chunk, error) {
	var event sdk.MessageStreamEventUnion
	if err := json.Unmarshal(data, &event); err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	index := int(event.Index)
	switch event.Type {
	case "ping":
		return []provider.Chunk{{Kind: provider.ChunkKeepAlive}}, nil
	case "message":
		return a.message(data)
	case "message_start":
		a.begun(event.Message.Usage)
	case "message_delta":
		if reason := event.Delta.StopReason; reason != "" {
			a.stop = reason
		}
		a.count(event.Usage)
	case "message_stop":
		return nil, a.end()
	case "content_block_start":
		return a.begin(index, event.ContentBlock.RawJSON())
	case "content_block_delta":
		return a.extend(index, event.Delta)
	case "content_block_stop":
		return a.close(index), nil
	}
	return nil, nil
}

// message takes a whole answer, from a server that does not stream.
func (a *answer) message(data []byte) ([]provider.Chunk, error) {
	var message sdk.Message
	if err := json.Unmarshal(data, &message); err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	a.begun(message.Usage)
	var chunks []provider.Chunk
	for index, content := range message.Content {
		begun, err := a.begin(index, content.RawJSON())
		if err != nil {
			return chunks, err
		}
		chunks = append(append(chunks, begun...), a.close(index)...)
	}
	a.stop, a.ended = message.StopReason, true
	if a.stop == "" {
		a.stop = a.usualStop()
	}
	return chunks, nil
}

// begun takes the figures of the beginning.
func (a *answer) begun(u sdk.Usage) {
	a.uncached = int(u.InputTokens)
	a.usage = conversation.Usage{
		Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		CacheWriteHour: int(u.CacheCreation.Ephemeral1hInputTokens),
	}
}

// begin opens a block. A new block with the number of an open one ends it. A repeated beginning is ignored.
func (a *answer) begin(index int, start string) ([]provider.Chunk, error) {
	if b := a.open[index]; b != nil && b.start == start && len(b.grown) == 0 {
		return nil, nil
	}
	chunks := a.cutOff(index)
	b, err := newBlock(start, a.text)
	if err != nil {
		return chunks, fmt.Errorf("%w: block %d: %w", errBroken, index, err)
	}
	b.part = index
	for a.parts[b.part] {
		b.part++
	}
	a.parts[b.part], a.open[index] = true, b
	chunk := provider.Chunk{Kind: b.kind, Index: b.part, Text: b.first}
	if b.kind == provider.ChunkToolCall {
		a.calls = true
		chunk.ToolID, chunk.Tool = b.is.ID, b.is.Name
	}
	return append(chunks, chunk), nil
}

// extend adds to a block. Text and thinking may begin without a beginning.
func (a *answer) extend(index int, delta sdk.MessageStreamEventUnionDelta) ([]provider.Chunk, error) {
	var chunks []provider.Chunk
	if a.open[index] == nil {
		start := map[string]string{"text_delta": `{"type":"text","text":""}`, "thinking_delta": `{"type":"thinking","thinking":"","signature":""}`}[delta.Type]
		if start == "" || a.parts[index] {
			return nil, fmt.Errorf("%w: block %d is not open", errBroken, index)
		}
		var err error
		if chunks, err = a.begin(index, start); err != nil {
			return chunks, err
		}
	}
	b := a.open[index]
	if text := b.extend(delta); text != "" {
		chunks = append(chunks, provider.Chunk{Kind: b.kind, Index: b.part, Text: text})
	}
	return chunks, nil
}

func (a *answer) close(index int) []provider.Chunk {
	b := a.open[index]
	if b == nil {
		return nil
	}
	delete(a.open, index)
	return []provider.Chunk{{Kind: provider.ChunkClose, Index: b.part, Item: b.item()}}
}

// cutOff ends a block without its end event.
func (a *answer) cutOff(index int) []provider.Chunk {
	a.cut = a.cut || a.open[index] != nil
	return a.close(index)
}

// count takes over the figures of the end: they are of the whole answer, and the server omits those that do
// not apply.
func (a *answer) count(u sdk.MessageDeltaUsage) {
	if u.JSON.OutputTokens.Valid() {
		a.usage.Output = int(u.OutputTokens)
	}
	if u.JSON.InputTokens.Valid() {
		a.uncached = int(u.InputTokens)
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		a.usage.CacheRead = int(u.CacheReadInputTokens)
	}
	if u.JSON.CacheCreationInputTokens.Valid() {
		a.usage.CacheWrite = int(u.CacheCreationInputTokens)
	}
}

// end takes the end of the stream. Without a reason it counts only if all blocks have ended.
func (a *answer) end() error {
	if a.stop == "" && (len(a.parts) == 0 || len(a.open) > 0 || a.cut) {
		return fmt.Errorf("%w: it ends inside of an answer", errBroken)
	}
	if a.stop == "" {
		a.stop = a.usualStop()
	}
	a.ended = true
	return nil
}

func (a *answer) usualStop() sdk.StopReason {
	if a.calls {
		return sdk.StopReasonToolUse
	}
	return sdk.StopReasonEndTurn
}

// Finished implements [stream.Reader].
func (a *answer) Finished() bool { return a.stop != "" }

// Whole implements [stream.Reader].
func (a *answer) Whole() bool { return a.ended }

// End implements [stream.Reader]. Blocks that are open end with the answer.
func (a *answer) End() []provider.Chunk {
	var chunks []provider.Chunk
	for _, index := range slices.Sorted(maps.Keys(a.open)) {
		chunks = append(chunks, a.close(index)...)
	}
	usage := a.usage
	usage.Input = a.uncached + usage.CacheRead + usage.CacheWrite
	return append(chunks, provider.Chunk{Kind: provider.ChunkFinish, Finish: finishOf(a.stop), Usage: &usage})
}

// Reported implements [stream.Reader].
func (a *answer) Reported(data []byte) error { return failed(data) }

// finishOf is the reason for the end. An unknown reason counts as an ordinary end.
func finishOf(stop sdk.StopReason) conversation.Finish {
	switch stop {
	case sdk.StopReasonToolUse:
		return conversation.FinishToolCalls
	case sdk.StopReasonMaxTokens:
		return conversation.FinishLength
	case sdk.StopReasonRefusal:
		return conversation.FinishRefusal
	case sdk.StopReasonPauseTurn:
		return conversation.FinishPause
	}
	if provider.IsContextReason(string(stop)) {
		return conversation.FinishContext
	}
	return conversation.FinishStop
}
