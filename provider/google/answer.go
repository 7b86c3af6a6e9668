package google

import (
	"encoding/json"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/provider"
)

// errNoAnswer is an event of a stream that is no piece of an answer.
var errNoAnswer = errors.New("the stream has something other than an answer")

// An event is one piece of a streamed answer. The parts are kept as they came.
type event struct {
	Candidates []struct {
		Index   int
		Content struct {
			Parts []json.RawMessage
		}
		FinishReason string
	}
	PromptFeedback struct {
		BlockReason string
	}
	UsageMetadata *struct {
		PromptTokenCount        int
		CachedContentTokenCount int
		CandidatesTokenCount    int
		ThoughtsTokenCount      int
		ToolUsePromptTokenCount int
	}
}

// An answer makes chunks of the model's parts. Text comes in pieces, each a part of its own, and a signature
// may come behind the signed part, on an empty text. So a part stays open until another begins.
type answer struct {
	call   int  // ordinal of the model call, for ids
	data   bool // text is a structured answer
	open   bool
	kind   provider.ChunkKind // of the open part, or the last one
	index  int                // of the open part, or the next one
	parts  []receivedPart     // of the open part
	calls  int
	finish conversation.Finish
	usage  *conversation.Usage
}

// Read implements [stream.Reader].
func (a *answer) Read(data []byte) ([]provider.Chunk, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	var chunks []provider.Chunk
	for _, c := range e.Candidates {
		if c.Index != 0 {
			continue
		}
		for _, raw := range c.Content.Parts {
			chunks = append(chunks, a.part(raw)...)
		}
		a.ended(c.FinishReason)
	}
	if reason := e.PromptFeedback.BlockReason; reason != "" && reason != blockedUnspecified {
		a.finish = conversation.FinishFiltered
	}
	if u := e.UsageMetadata; u != nil {
		a.usage = &conversation.Usage{
			Input:     u.PromptTokenCount + u.ToolUsePromptTokenCount,
			Output:    u.CandidatesTokenCount + u.ThoughtsTokenCount,
			CacheRead: u.CachedContentTokenCount,
		}
	}
	return chunks, nil
}

// part returns the chunks of one part of an answer. Unrequested kinds of part add only their signature.
func (a *answer) part(raw json.RawMessage) []provider.Chunk {
	var p receivedPart
	if json.Unmarshal(raw, &p) != nil {
		return nil
	}
	p.raw = raw
	switch {
	case p.FunctionCall != nil:
		return append(a.begin(provider.ChunkToolCall, p), a.called(p.FunctionCall))
	case !p.blank():
		kind := a.kindOf(p)
		var chunks []provider.Chunk
		if a.open && a.kind == kind {
			a.parts = append(a.parts, p)
		} else {
			chunks = a.begin(kind, p)
		}
		return append(chunks, provider.Chunk{Kind: kind, Index: a.index, Text: string(p.Text)})
	case a.open && a.kind == a.kindOf(p) && p.Text != "":
		a.parts = append(a.parts, p)
		return []provider.Chunk{{Kind: a.kind, Index: a.index, Text: string(p.Text)}}
	case p.ThoughtSignature == "":
		return nil
	case a.open:
		a.parts = append(a.parts, p)
		return nil
	}
	// A blank part is kept only as reasoning.
	return append(a.begin(provider.ChunkReasoning, p), provider.Chunk{Kind: provider.ChunkReasoning, Index: a.index})
}

func (a *answer) kindOf(p receivedPart) provider.ChunkKind {
	switch {
	case p.Thought:
		return provider.ChunkReasoning
	case a.data:
		return provider.ChunkData
	}
	return provider.ChunkMessage
}

// begin closes the open part and opens another.
func (a *answer) begin(kind provider.ChunkKind, p receivedPart) []provider.Chunk {
	chunks := a.close()
	a.open, a.kind, a.parts = true, kind, []receivedPart{p}
	return chunks
}

// called is the chunk of a function call, which comes whole. One without an id
// gets one that is the same whenever the answer comes.
func (a *answer) called(c *functionCall) provider.Chunk {
	a.calls++
	id, args := c.ID, c.Args
	if id == "" {
		id = fmt.Sprintf("call_%d_%d", a.call, a.calls)
	}
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	return provider.Chunk{Kind: provider.ChunkToolCall, Index: a.index, ToolID: id, Tool: c.Name, Text: string(args)}
}

func (a *answer) close() []provider.Chunk {
	if !a.open {
		return nil
	}
	closed := provider.Chunk{Kind: provider.ChunkClose, Index: a.index, Item: a.item()}
	a.open, a.parts = false, nil
	a.index++
	return []provider.Chunk{closed}
}

// item is the state of the open part. Text without a signature has none. If only signatures follow the text,
// they are the whole state, since the text is stored as such.
func (a *answer) item() json.RawMessage {
	if a.kind == provider.ChunkToolCall {
		return itemOf(a.parts)
	}
	for i, p := range a.parts {
		if p.ThoughtSignature == "" {
			continue
		}
		if holdsText(a.parts[i:]) {
			return itemOf(a.parts)
		}
		return itemOf(a.parts[i:])
	}
	return nil
}

// Reported implements [stream.Reader].
func (a *answer) Reported(data []byte) error {
	var known struct{ Error *refusal }
	if json.Unmarshal(data, &known) == nil && known.Error != nil && known.Error.Message != "" {
		return *known.Error
	}
	c := provider.ComplaintIn(data)
	if c.Message == "" {
		c.Message = string(data)
	}
	return refusal{Code: c.HTTP(), Message: c.Message, Status: c.Status}
}

// Finished implements [stream.Reader].
func (a *answer) Finished() bool { return a.finish != "" }

// Whole implements [stream.Reader]. Figures and signatures may follow the reason.
func (a *answer) Whole() bool { return false }

// End implements [stream.Reader].
func (a *answer) End() []provider.Chunk {
	return append(a.close(), provider.Chunk{Kind: provider.ChunkFinish, Finish: a.finished(), Usage: a.usage})
}

// ended notes why the model ended, the newest reason last.
func (a *answer) ended(reason string) {
	if reason != "" && reason != finishUnspecified {
		a.finish = finishOf(reason)
	}
}

// finished is the reason for the end, with respect to the parts before it.
func (a *answer) finished() conversation.Finish {
	if a.finish == conversation.FinishStop && a.calls > 0 {
		return conversation.FinishToolCalls
	}
	return a.finish
}

// finishOf is the reason in jp's words. A function call that the model failed to write down counts as a
// missing call, and jp asks again. An unknown reason never counts as a whole answer.
func finishOf(reason string) conversation.Finish {
	switch reason {
	case finishStop, finishTooManyCalls:
		return conversation.FinishStop
	case finishMaxTokens, finishContinuation:
		return conversation.FinishLength
	case finishMalformedCall, finishUnexpectedCall:
		return conversation.FinishToolCalls
	}
	if provider.IsContextReason(reason) {
		return conversation.FinishContext
	}
	return conversation.FinishFiltered
}
