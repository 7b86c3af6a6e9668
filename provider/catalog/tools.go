package catalog

import (
	"context"
	"iter"
	"strings"

	"jp/provider"
	"jp/provider/tooldef"
)

// LeftOut are the tools that the provider is not told of, since it would refuse
// every request with them, each with the reason.
func (p *Provider) LeftOut(tools []provider.Tool) []tooldef.OmittedTool {
	return tooldef.Adapt(tools, p.Tools, nil).LeftOut
}

// adapting makes the definitions of tools fit for the provider, and translates the
// arguments of calls where a parameter has another name there.
type adapting struct {
	provider.Provider
	rules tooldef.Rules
}

// Stream implements [provider.Provider].
func (a adapting) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	tools := tooldef.Adapt(request.Tools, a.rules, calledIn(request.Messages))
	adapted := *request
	adapted.Tools, adapted.Messages = tools.Tools, toWire(request.Messages, tools)
	answer := a.Provider.Stream(ctx, &adapted)
	if !tools.AnyRenamed() {
		return answer
	}
	return func(yield func(provider.Chunk, error) bool) {
		t := translator{tools: tools, calls: map[int]*openCall{}}
		for chunk, err := range answer {
			if err == nil && chunk.Kind == provider.ChunkClose {
				if text := t.whole(chunk.Index); text != "" && !yield(provider.Chunk{Kind: provider.ChunkToolCall, Index: chunk.Index, Text: text}, nil) {
					return
				}
			}
			if !yield(t.held(chunk), err) {
				return
			}
		}
	}
}

// A translator gives the arguments of calls the names that the tools know.
type translator struct {
	tools tooldef.Tools
	calls map[int]*openCall
}

// An openCall is a tool call that has begun. Its arguments come in pieces.
type openCall struct {
	tool string
	held strings.Builder // arguments so far, of which nothing was handed on
}

// held is the chunk without the arguments that can be translated only when the call
// is whole, or when it is known of which tool it is.
func (t translator) held(chunk provider.Chunk) provider.Chunk {
	if chunk.Kind != provider.ChunkToolCall {
		return chunk
	}
	c := t.calls[chunk.Index]
	if c == nil {
		c = &openCall{}
		t.calls[chunk.Index] = c
	}
	if c.tool == "" {
		c.tool = chunk.Tool
	}
	c.held.WriteString(chunk.Text)
	chunk.Text = ""
	if c.tool != "" && !t.tools.Renamed(c.tool) {
		chunk.Text = c.held.String()
		c.held.Reset()
	}
	return chunk
}

// whole are the arguments of a call that has ended, as far as they were held.
func (t translator) whole(index int) string {
	c := t.calls[index]
	if c == nil {
		return ""
	}
	return string(t.tools.FromWire(c.tool, []byte(c.held.String())))
}

// calledIn are the names of the tools that messages have calls of.
func calledIn(messages []provider.Message) map[string]bool {
	called := map[string]bool{}
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Kind == provider.BlockToolCall {
				called[b.Name] = true
			}
		}
	}
	return called
}

// toWire are messages with the arguments as the provider knows them. The given
// messages stay as they are.
func toWire(messages []provider.Message, tools tooldef.Tools) []provider.Message {
	all := make([]provider.Message, len(messages))
	for i, m := range messages {
		all[i] = m
		copied := false
		for at, b := range m.Blocks {
			if b.Kind != provider.BlockToolCall || !tools.Renamed(b.Name) {
				continue
			}
			if !copied {
				all[i].Blocks, copied = append([]provider.Block{}, m.Blocks...), true
			}
			all[i].Blocks[at].Arguments = tools.ToWire(b.Name, b.Arguments)
		}
	}
	return all
}
