package catalog

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"jp/provider"
)

// LeftOut are the tools that jp omits from requests, since the provider would refuse every request with them,
// each with the reason.
func (p *Provider) LeftOut(tools []provider.Tool) []provider.OmittedTool {
	return provider.AdaptTools(tools, p.Tools, nil).LeftOut
}

// adapting makes the definitions of tools fit for the provider, and translates the arguments of calls if a
// parameter has another name there.
type adapting struct {
	provider.Provider
	rules provider.ToolRules
}

// Stream implements [provider.Provider].
func (a adapting) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	tools := provider.EncodedOf[adaptedTools](request.Encoded).of(request, a.rules)
	adapted := *request
	adapted.Tools = tools.Tools
	if !tools.AnyRenamed() {
		return a.Provider.Stream(ctx, &adapted)
	}
	adapted.Messages = toWire(request.Messages, tools)
	answer := a.Provider.Stream(ctx, &adapted)
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

// adaptedTools keeps the definitions of the newest request. The zero value is ready to use, by several goroutines.
type adaptedTools struct {
	mu     sync.Mutex
	rules  provider.ToolRules
	tools  []provider.Tool
	called []string
	made   provider.AdaptedTools
}

// of are the definitions of a request as they fit.
func (a *adaptedTools) of(request *provider.Request, rules provider.ToolRules) provider.AdaptedTools {
	a.mu.Lock()
	defer a.mu.Unlock()
	called := request.Called()
	if a.tools != nil && a.rules == rules && slices.Equal(a.called, called) && slices.EqualFunc(a.tools, request.Tools, sameTool) {
		return a.made
	}
	used := map[string]bool{}
	for _, name := range called {
		used[name] = true
	}
	a.rules, a.tools, a.called, a.made = rules, request.Tools, called, provider.AdaptTools(request.Tools, rules, used)
	return a.made
}

func sameTool(a, b provider.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
}

// A translator gives the arguments of calls the names that the tools know.
type translator struct {
	tools provider.AdaptedTools
	calls map[int]*openCall
}

// An openCall is a tool call that has begun. Its arguments come in pieces.
type openCall struct {
	tool string
	held strings.Builder // arguments so far, still to be passed on
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

// toWire are messages with the arguments as the provider knows them. The given
// messages stay as they are.
func toWire(messages []provider.Message, tools provider.AdaptedTools) []provider.Message {
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
