package agent

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// A Previewed request is the first one that a turn would send.
type Previewed struct {
	ID       conversation.ID // "" for a new conversation
	Turn     int
	Model    string // PROVIDER/NAME
	Tokens   int    // of the model's input, an estimate
	Window   int    // tokens that it can read; 0: unknown
	CostUSD  string // of these tokens without the savings of a cache; "" if the price is unknown
	Compacts bool   // the conversation would be compacted first
	Request  PreviewedRequest
	Parts    []PreviewedPart // of the request, in order
}

// A PreviewedRequest is the content of the request.
type PreviewedRequest struct {
	System   string             `json:"system"`
	Tools    []provider.Tool    `json:"tools"`
	Messages []provider.Message `json:"messages"`
	Schema   json.RawMessage    `json:"schema,omitempty"`
}

// A PreviewedPart is the system prompt, the tools, or a block of a message.
type PreviewedPart struct {
	From   string // the speaker
	Text   string
	Tokens int // an estimate
	kinds  map[ContextKind]int
}

// add adds the parts of a request, whose blocks are of these kinds as far as they are known.
func (p *Previewed) add(r *provider.Request, kinds [][]map[ContextKind]int) {
	p.Request = PreviewedRequest{System: r.System, Tools: r.Tools, Messages: r.Messages, Schema: r.Schema}
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	if p.Request.Tools == nil {
		p.Request.Tools = []provider.Tool{}
	}
	p.Parts = []PreviewedPart{
		{"system", r.System, (&provider.Request{System: r.System}).Estimate(), nil},
		{conversation.Count(len(names), "tool"), strings.Join(names, " "), (&provider.Request{Tools: r.Tools}).Estimate(), nil},
	}
	for i := range p.Parts {
		p.Parts[i].kinds = map[ContextKind]int{ContextSystem: p.Parts[i].Tokens}
	}
	for i, m := range r.Messages {
		for j, b := range m.Blocks {
			text := b.Text
			if b.Kind != provider.BlockText && b.Kind != provider.BlockReasoning {
				text = strings.TrimSpace(string(b.Kind) + " " + b.Name + " " + string(b.Arguments) + " " + text)
			}
			one := &provider.Request{Messages: []provider.Message{{Blocks: []provider.Block{b}}}}
			part := PreviewedPart{string(m.Role), text, one.Estimate(), map[ContextKind]int{}}
			shares := map[ContextKind]int{ContextMessages: whole}
			if i < len(kinds) && j < len(kinds[i]) {
				shares = kinds[i][j]
			}
			for kind, share := range shares {
				part.kinds[kind] = part.Tokens * share / whole
			}
			p.Parts = append(p.Parts, part)
		}
	}
}

// A previewer takes the request in place of the model's server, and ends the turn.
type previewer func(*provider.Request)

// Stream implements [provider.Provider].
func (take previewer) Stream(_ context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		take(request)
		if yield(provider.Chunk{Kind: provider.ChunkMessage, Text: "."}, nil) {
			yield(provider.Chunk{Kind: provider.ChunkFinish, Finish: conversation.FinishStop}, nil)
		}
	}
}
