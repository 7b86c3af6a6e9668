package turnloop_test

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"jp/conversation"
	"jp/provider"
)

// A model gives a reply for each model call, found by how many calls of the
// conversation have ended.
type model struct {
	trace    *trace
	replies  []reply
	tries    map[int]int // by reply
	requests []*provider.Request
}

// A reply is one answer of the model: for each try its steps, of which the last ones are used again. A step
// is a chunk, an error, or something to do before the next.
type reply [][]any

func (m *model) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		m.requests = append(m.requests, request)
		m.trace.add("model")
		if request.Ended >= len(m.replies) {
			yield(provider.Chunk{}, &provider.Error{Class: provider.ClassInvalid, Message: "no reply left"})
			return
		}
		if m.tries == nil {
			m.tries = map[int]int{}
		}
		tries := m.replies[request.Ended]
		steps := tries[min(m.tries[request.Ended], len(tries)-1)]
		m.tries[request.Ended]++
		m.give(ctx, steps, yield)
	}
}

func (m *model) give(ctx context.Context, steps []any, yield func(provider.Chunk, error) bool) {
	for _, s := range steps {
		switch s := s.(type) {
		case error:
			yield(provider.Chunk{}, s)
			return
		case func(context.Context):
			s(ctx)
			if ctx.Err() != nil {
				yield(provider.Chunk{}, ctx.Err())
				return
			}
		case provider.Chunk:
			if !yield(s, nil) {
				return
			}
		}
	}
}

// steps joins parts to one try; each part has the next index.
func steps(parts ...any) []any {
	var all []any
	index := 0
	for _, p := range parts {
		chunks, ok := p.([]provider.Chunk)
		if !ok {
			all = append(all, p)
			continue
		}
		for _, c := range chunks {
			c.Index = index
			all = append(all, c)
		}
		index++
	}
	return all
}

// once is a reply whose every try is the same.
func once(parts ...any) reply { return reply{steps(parts...)} }

func part(kind provider.ChunkKind, pieces ...string) []provider.Chunk {
	var chunks []provider.Chunk
	for _, text := range pieces {
		chunks = append(chunks, provider.Chunk{Kind: kind, Text: text})
	}
	return append(chunks, provider.Chunk{Kind: provider.ChunkClose})
}

func hasContent(pieces ...string) []provider.Chunk { return part(provider.ChunkMessage, pieces...) }

func thinks(text string) []provider.Chunk {
	chunks := part(provider.ChunkReasoning, text)
	chunks[1].Item = []byte(`{"signature":"s"}`)
	return chunks
}

// open is a part without an end.
func open(chunks []provider.Chunk) []provider.Chunk { return chunks[:len(chunks)-1] }

// calls is a tool call; its id is made of the tool's name and the tag.
func calls(name, tag, arguments string) []provider.Chunk {
	chunks := part(provider.ChunkToolCall, arguments)
	chunks[0].Tool, chunks[0].ToolID = name, name+tag
	return chunks
}

func ends(finish conversation.Finish) provider.Chunk {
	return provider.Chunk{Kind: provider.ChunkFinish, Finish: finish, Usage: &conversation.Usage{Input: 10, Output: 2, CostUSD: "0.5"}}
}

// asksFor is a reply of tool calls alone, without arguments.
func asksFor(names ...string) reply {
	var parts []any
	for i, name := range names {
		parts = append(parts, calls(name, fmt.Sprintf("_%d", i+1), "{}"))
	}
	return once(append(parts, ends(conversation.FinishToolCalls))...)
}

// paused is the text of a model that goes on by itself: jp sends it back unchanged.
const paused = "Wait"

func answers(text string) reply { return once(hasContent(text), ends(conversation.FinishStop)) }

// validRequest checks, apart from the code that makes requests, the common rules of the providers: the user
// begins, and each call has its one result directly behind its message.
func validRequest(r *provider.Request) error {
	if len(r.Messages) == 0 || r.Messages[0].Role != conversation.RoleUser {
		return errors.New("the user does not begin")
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role == conversation.RoleAssistant && last.Blocks[0].Text != paused {
		return errors.New("the assistant has the last word")
	}
	for i, m := range r.Messages {
		results := map[string]int{}
		if i+1 < len(r.Messages) && r.Messages[i+1].Role == conversation.RoleTool {
			results = blocksOf(r.Messages[i+1], provider.BlockResult)
		}
		wanted := blocksOf(m, provider.BlockToolCall)
		for id, n := range wanted {
			if n != 1 || results[id] != 1 {
				return fmt.Errorf("message %d: call %s has %d results", i, id, results[id])
			}
		}
		if len(wanted) != len(results) {
			return fmt.Errorf("message %d: %d calls, %d results", i, len(wanted), len(results))
		}
	}
	return nil
}

func blocksOf(m provider.Message, kind provider.BlockKind) map[string]int {
	ids := map[string]int{}
	for _, b := range m.Blocks {
		if b.Kind == kind {
			ids[b.ID]++
		}
	}
	return ids
}

// sent is the text of the newest request's last message.
func (m *model) sent() string {
	messages := m.requests[len(m.requests)-1].Messages
	text := ""
	for _, b := range messages[len(messages)-1].Blocks {
		text += b.Text + "\n"
	}
	return text
}
