package turnloop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jp/conversation"
	"jp/provider"
)

// An answer is a model call while it streams. The part that was closed last is
// held back until the next one opens or the finish arrives, so that the last
// event of the call can carry its end.
type answer struct {
	loop    *Loop
	ordinal int
	prefix  func() string
	began   time.Time
	names   provider.Names
	shown   *openActivity

	parts   provider.Assembler
	held    []provider.Part
	open    map[int]int    // bytes of text streamed so far, by the provider's index
	waiting map[int]string // leading white space of parts, which alone makes no event
	writing map[int]string // the tool whose call is being written
	durable bool           // an event of the call is recorded
	tools   bool           // a tool call is recorded
}

// handle handles the next chunk; done is true after the last one.
func (a *answer) handle(ctx context.Context, c provider.Chunk) (done bool, err error) {
	if opens(c) {
		if _, known := a.open[c.Index]; !known {
			if err := a.record(ctx, nil); err != nil {
				return false, err
			}
		}
		a.stream(c)
	}
	whole, err := a.parts.Add(c)
	if err != nil {
		return false, err
	}
	for _, p := range a.parts.Repeated() {
		a.loop.detail(fmt.Sprintf("The answer has the call %s of %s twice; jp runs it once.", clip(p.ToolID), clip(p.Tool)))
	}
	if c.Kind == provider.ChunkFinish {
		a.held = append(a.held, whole...)
		return true, a.record(ctx, a.end(c))
	}
	if len(whole) > 0 {
		last := len(whole) - 1
		a.held = append(a.held, whole[:last]...)
		if err := a.record(ctx, nil); err != nil {
			return false, err
		}
		a.held = append(a.held, whole[last])
	}
	return false, nil
}

func opens(c provider.Chunk) bool {
	switch c.Kind {
	case provider.ChunkMessage, provider.ChunkReasoning, provider.ChunkData, provider.ChunkToolCall:
		return true
	}
	return false
}

// partOf maps a chunk's kind to its part, "" for a tool call.
var partOf = map[provider.ChunkKind]conversation.Part{
	provider.ChunkMessage: conversation.PartMessage, provider.ChunkReasoning: conversation.PartReasoning,
	provider.ChunkData: conversation.PartData,
}

func (a *answer) stream(c provider.Chunk) {
	at, text := a.open[c.Index], a.waiting[c.Index]+c.Text
	// Show the model's output as it arrives. The pieces of a tool call name the tool once.
	if c.Kind == provider.ChunkToolCall && c.Tool != "" {
		a.writing = map[int]string{c.Index: clip(c.Tool)}
		if registered, ok := a.names.Registry(clip(c.Tool)); ok {
			a.writing[c.Index] = registered
		}
	}
	a.shown.Add(partOf[c.Kind], a.writing[c.Index], c.Text)
	if at == 0 && strings.TrimSpace(text) == "" {
		a.open[c.Index], a.waiting[c.Index] = 0, text
		return
	}
	delete(a.waiting, c.Index)
	a.open[c.Index] = at + len(text)
	if part := partOf[c.Kind]; part != "" && c.Text != "" {
		seq := a.loop.stream.NextSeq() + len(a.held) + a.parts.Before(c.Index)
		a.loop.opts.Observer.Streamed(Delta{Seq: seq, Call: a.ordinal, Part: part, At: at, Text: text})
	}
}

// end builds the end of the call for its last event.
func (a *answer) end(c provider.Chunk) *conversation.CallEnd {
	end := &conversation.CallEnd{Finish: c.Finish, Prefix: a.prefix(), Usage: &conversation.Usage{}}
	if c.Usage != nil {
		*end.Usage = *c.Usage
	}
	end.Usage.Input, end.Usage.Output = believable(end.Usage.Input), believable(end.Usage.Output)
	end.Usage.CacheRead, end.Usage.CacheWrite = believable(end.Usage.CacheRead), believable(end.Usage.CacheWrite)
	end.Fallback, a.loop.substitute.why = a.loop.substitute.why, nil
	end.Usage.DurationMS = a.loop.opts.Clock.Now().Sub(a.began).Milliseconds()
	if end.Finish == "" {
		end.Finish = conversation.FinishStop
	}
	return end
}

// mostTokens is more than any answer costs. It keeps sums of the servers' figures from overflowing.
const mostTokens = 1 << 40

func believable(tokens int) int { return min(max(tokens, 0), mostTokens) }

// record makes the held parts durable, and with an end the end of the call.
func (a *answer) record(ctx context.Context, end *conversation.CallEnd) error {
	if end != nil && len(a.held) == 0 {
		a.held = []provider.Part{{Kind: provider.ChunkMessage}} // an empty message
	}
	if len(a.held) == 0 {
		return nil
	}
	t := a.loop.stream.CurrentTurn()
	for i, p := range a.held {
		var last conversation.CallEnd
		if end != nil && i == len(a.held)-1 {
			last = *end
		}
		a.add(t, p, last, false)
	}
	return a.write(ctx, t)
}

func (a *answer) write(ctx context.Context, t *conversation.TurnBuilder) error {
	if err := a.loop.build(ctx, t); err != nil {
		return err
	}
	for _, p := range a.held {
		a.tools = a.tools || p.Kind == provider.ChunkToolCall
	}
	a.durable = a.durable || len(a.held) > 0
	a.held = nil
	return nil
}

// add adds the event of a part.
func (a *answer) add(t *conversation.TurnBuilder, p provider.Part, end conversation.CallEnd, partial bool) {
	name, wrote, repaired := clip(p.Tool), "", p.Repaired
	if p.Kind == provider.ChunkToolCall {
		if registered, ok := a.names.Registry(name); ok {
			name = registered
		} else if meant, ok := a.names.Meant(name); ok {
			name, wrote, repaired = meant, name, true
		}
	}
	with := a.loop.substitute.author(a.loop.opts.Model.Name)
	if state := a.loop.model.options().Target().StateOf(p, wrote); state != nil {
		with = append(with, conversation.WithProvider(state))
	}
	if p.Kind != provider.ChunkToolCall {
		t.AddChatResponse(conversation.ChatResponse{Call: a.ordinal, Part: p.ChatPart(), Text: p.Text, Partial: partial, CallEnd: end}, with...)
		return
	}
	request := conversation.ToolCallRequest{
		Call: a.ordinal, ID: clip(p.ToolID), Name: name, Arguments: p.Arguments, Malformed: p.Malformed, Repaired: repaired, CallEnd: end,
	}
	if repaired {
		a.loop.detail(fmt.Sprintf("The call of %s was damaged; jp repaired it.", name))
	}
	if p.Malformed || p.Repaired {
		with = append(with, conversation.WithPayload(conversation.Payload{
			Name: conversation.PayloadArguments, MediaType: "text/plain", Data: []byte(p.RawArguments),
		}))
	}
	with = append(with, conversation.WithSubject("call "+line(name, subjectOf(a.loop.opts.Tools.Registry, name, p.Arguments))))
	t.AddToolCallRequest(request, with...)
}

// maxName bounds a name or an id from a model, in bytes. Those of providers are shorter.
const maxName = 512

func clip(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "")
}

// broken handles the end of a stream that has no finish. If a tool call is already durable, the model call
// ends there. Otherwise, unless the request is repeated, it keeps the text so far, marked as cut off.
func (a *answer) broken(ctx context.Context, cause error) error {
	interrupted := ctx.Err() != nil
	if interrupted {
		cause = context.Cause(ctx)
	}
	if !a.tools && !interrupted {
		if !a.durable {
			a.loop.failed++
		}
		return cause
	}
	if interrupted {
		// Keep the parts so far, whole and partial, without an end.
		t := a.loop.stream.CurrentTurn()
		for _, p := range a.held {
			a.add(t, p, conversation.CallEnd{}, false)
		}
		for _, p := range a.parts.Partial() {
			a.add(t, p, conversation.CallEnd{}, true)
		}
		if err := a.write(ctx, t); err != nil {
			return err
		}
		return cause
	}
	if err := a.record(ctx, nil); err != nil {
		return err
	}
	a.loop.opts.Observer.Noticed(fmt.Sprintf("%v; the answer was cut off while it asked for tools, and jp goes on with the calls that arrived", cause))
	return nil
}
