package script

import (
	"bytes"
	"encoding/json"

	"jp/conversation"
	"jp/provider"
)

// Replay is a provider that repeats the answers of a conversation's models, in order. name is its name in
// errors.
func Replay(name string, events []*conversation.Event) *Provider {
	p := &Provider{name: name}
	for _, said := range provider.SaidIn(events) {
		p.replies = append(p.replies, recorded(said))
	}
	return p
}

// recorded is a reply as it is on record, without its cost.
func recorded(said provider.Said) (r reply) {
	for _, e := range said.Events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			r.add(b)
			r.Finish = string(b.Finish)
		case *conversation.ToolCallRequest:
			r.ToolCalls = append(r.ToolCalls, toolCall{ID: b.ID, Name: b.Name, text: compact(b.Arguments)})
			r.Finish = string(b.Finish)
		case *conversation.InquiryResponse:
			r.data = answered(b.Answer)
		}
	}
	return r
}

func (r *reply) add(b *conversation.ChatResponse) {
	switch b.Part {
	case conversation.PartReasoning:
		r.Reasoning += b.Text
	case conversation.PartData:
		r.data += b.Text
	default:
		r.Message += b.Text
	}
}

// answered is the answer to a tool's question in the requested shape.
func answered(answer json.RawMessage) string {
	return `{"answer":` + compact(answer) + `}`
}

// compact is JSON on one line. Other text stays as it is.
func compact(text []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return string(text)
	}
	return out.String()
}
