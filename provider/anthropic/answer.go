package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"jp/conversation"
	"jp/provider"
)

// errBroken says that events do not make an answer.
var errBroken = errors.New("the stream makes no sense")

// An answer turns events into chunks.
type answer struct {
	text     provider.ChunkKind // what text is
	blocks   map[int]*block     // open ones
	begun    map[int]bool
	usage    conversation.Usage // without the input
	uncached int                // tokens of the input that are in no cache; the API counts only them as input
	stop     sdk.StopReason
}

// newAnswer is an answer of which nothing came yet.
func newAnswer(structured bool) *answer {
	a := &answer{text: provider.ChunkMessage, blocks: map[int]*block{}, begun: map[int]bool{}}
	if structured {
		a.text = provider.ChunkData
	}
	return a
}

// add takes the next event and returns the chunk that it makes, if any. Events
// of unknown types mean nothing. An event that reports a failure is returned as
// one.
func (a *answer) add(e ssestream.Event) (provider.Chunk, bool, error) {
	data := bytes.TrimSpace(bytes.ToValidUTF8(e.Data, []byte("\uFFFD")))
	if len(data) == 0 {
		return provider.Chunk{}, false, nil
	}
	var event sdk.MessageStreamEventUnion
	if err := json.Unmarshal(data, &event); err != nil {
		if e.Type == "error" {
			return provider.Chunk{}, false, failed(data)
		}
		return provider.Chunk{}, false, fmt.Errorf("%w: %w", errBroken, err)
	}
	switch event.Type {
	case "error":
		return provider.Chunk{}, false, failed(data)
	case "ping":
		return provider.Chunk{Kind: provider.ChunkKeepAlive}, true, nil
	case "message_start":
		u := event.Message.Usage
		a.uncached = int(u.InputTokens)
		a.usage = conversation.Usage{
			Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		}
	case "message_delta":
		a.stop = event.Delta.StopReason
		a.count(event.Usage)
	case "message_stop":
		return a.finish()
	case "content_block_start", "content_block_delta", "content_block_stop":
		return a.content(event)
	}
	return provider.Chunk{}, false, nil
}

// content takes an event of one block.
func (a *answer) content(event sdk.MessageStreamEventUnion) (provider.Chunk, bool, error) {
	index := int(event.Index)
	if event.Type == "content_block_start" {
		return a.begin(index, event.ContentBlock.RawJSON())
	}
	b := a.blocks[index]
	if b == nil {
		return provider.Chunk{}, false, fmt.Errorf("%w: block %d is not open", errBroken, index)
	}
	if event.Type == "content_block_stop" {
		delete(a.blocks, index)
		return provider.Chunk{Kind: provider.ChunkClose, Index: index, Item: b.item()}, true, nil
	}
	text := b.extend(event.Delta)
	return provider.Chunk{Kind: b.kind, Index: index, Text: text}, text != "", nil
}

func (a *answer) begin(index int, start string) (provider.Chunk, bool, error) {
	if a.begun[index] {
		return provider.Chunk{}, false, fmt.Errorf("%w: block %d begins twice", errBroken, index)
	}
	b, err := newBlock(start, a.text)
	if err != nil {
		return provider.Chunk{}, false, fmt.Errorf("%w: block %d: %w", errBroken, index, err)
	}
	a.begun[index], a.blocks[index] = true, b
	chunk := provider.Chunk{Kind: b.kind, Index: index, Text: b.first}
	if b.kind == provider.ChunkToolCall {
		chunk.ToolID, chunk.Tool = b.is.ID, b.is.Name
	}
	return chunk, true, nil
}

// count takes over the figures of the end: they are of the whole answer, and
// those that do not apply are left out.
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

func (a *answer) finish() (provider.Chunk, bool, error) {
	if a.stop == "" || len(a.blocks) > 0 {
		return provider.Chunk{}, false, fmt.Errorf("%w: it ends inside of an answer", errBroken)
	}
	usage := a.usage
	usage.Input = a.uncached + usage.CacheRead + usage.CacheWrite
	return provider.Chunk{Kind: provider.ChunkFinish, Finish: finishOf(a.stop), Usage: &usage}, true, nil
}

// finishOf is why the model stopped. A reason that is not known is an end.
func finishOf(stop sdk.StopReason) conversation.Finish {
	switch stop {
	case sdk.StopReasonToolUse:
		return conversation.FinishToolCalls
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return conversation.FinishLength
	case sdk.StopReasonRefusal:
		return conversation.FinishRefusal
	case sdk.StopReasonPauseTurn:
		return conversation.FinishPause
	}
	return conversation.FinishStop
}
