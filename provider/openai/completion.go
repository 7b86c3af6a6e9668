package openai

import (
	"encoding/json"
	"fmt"

	"jp/conversation"
	"jp/provider"
)

// A chatReader reads the chunks of a chat completion.
type chatReader struct {
	deltas deltas
	reason string // for the end of the answer; empty: it is open
	usage  *conversation.Usage
}

// Read implements [stream.Reader].
func (r *chatReader) Read(data []byte) ([]provider.Chunk, error) {
	var chunk chatChunk
	if err := decode(data, &chunk); err != nil {
		return nil, fmt.Errorf("read an event of the answer: %w", err)
	}
	if chunk.Usage != nil {
		r.usage = chunk.Usage.usage()
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		if complaint := value(choice.Error); complaint != nil {
			return r.deltas.take(), reported(complaint)
		}
		r.deltas.add(choice.Delta)
		switch choice.FinishReason {
		case "":
		case "error", "insufficient_system_resource":
			return r.deltas.take(), &provider.Error{Class: provider.ClassOverloaded, Message: "the server gave up: " + choice.FinishReason}
		default:
			r.reason = choice.FinishReason
		}
		if message := value(choice.Message); message != nil {
			r.message(message)
		}
	}
	return r.deltas.take(), nil
}

// message takes a whole answer, from a server that does not stream. It is one delta, and ends the answer even
// without a reason.
func (r *chatReader) message(message json.RawMessage) {
	var delta chatDelta
	if decode(message, &delta) != nil {
		return // any other value is ignored
	}
	r.deltas.add(delta)
	if r.reason == "" {
		r.reason = "stop"
	}
}

// Reported implements [stream.Reader].
func (r *chatReader) Reported(data []byte) error { return reported(data) }

// Finished implements [stream.Reader].
func (r *chatReader) Finished() bool { return r.reason != "" }

// Whole implements [stream.Reader]. It is always false, since usage may follow. Servers without an end mark
// close the connection.
func (r *chatReader) Whole() bool { return false }

// End implements [stream.Reader].
func (r *chatReader) End() []provider.Chunk {
	r.deltas.close()
	end := provider.Chunk{Kind: provider.ChunkFinish, Finish: r.why(), Usage: r.usage}
	return append(r.deltas.take(), end)
}

func (r *chatReader) why() conversation.Finish {
	switch {
	case r.deltas.refused:
		return conversation.FinishRefusal
	case r.reason == "model_length" || provider.IsContextReason(r.reason):
		return conversation.FinishContext
	case r.reason == "length" || r.reason == "max_tokens":
		return conversation.FinishLength
	case r.reason == "content_filter":
		return conversation.FinishFiltered
	case r.reason == "tool_calls" || r.reason == "function_call" || len(r.deltas.calls) > 0:
		return conversation.FinishToolCalls
	}
	return conversation.FinishStop
}

// usage counts cached tokens among the input, as the server does.
func (u chatUsage) usage() *conversation.Usage {
	usage := &conversation.Usage{
		Input: int(u.Input), Output: int(u.Output), CacheRead: int(u.InputDetails.Cached), CacheWrite: int(u.InputDetails.CacheWrite), CostUSD: stated(u.Cost),
	}
	if usage.CacheRead == 0 {
		usage.CacheRead = int(u.CacheHits)
	}
	return usage
}
