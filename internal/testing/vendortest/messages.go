package vendortest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jp/internal/testing/wirecheck"
)

// messages is the Messages API of Anthropic.
type messages struct{}

func (messages) format() wirecheck.API { return wirecheck.AnthropicMessages }

func (messages) judge(body []byte, model string, known known) []wirecheck.Violation {
	able := wirecheck.Capability{Received: known.received, Given: known.given}
	able.Anthropic.Thinking = wirecheck.ThinkingManual
	if !strings.Contains(model, "4-5") {
		able.Anthropic.Thinking = wirecheck.ThinkingAdaptive
	}
	return wirecheck.Anthropic(body, able)
}

func (messages) models(name string) string {
	return string(object("data", list{object("type", "model", "id", name, "display_name", name, "created_at", "2026-01-01T00:00:00Z")},
		"has_more", false, "first_id", name, "last_id", name))
}

func (m messages) events(r Reply, s style) ([]event, []json.RawMessage) {
	a := messageStream{style: s}
	a.add("message_start", "", "message", object("id", fmt.Sprintf("msg_%d", s.reply), "type", "message", "role", "assistant",
		"model", s.model, "content", list{}, "stop_reason", nil, "usage", object("input_tokens", r.Usage.Input-r.Usage.Cached,
			"cache_read_input_tokens", r.Usage.Cached, "cache_creation_input_tokens", 0, "output_tokens", 1)))
	a.odd()
	a.think(r.Reasoning)
	if text := r.Text + r.Data; text != "" {
		a.block(MarkText, object("type", "text", "text", ""), s.pieces(text), "text_delta", "text")
	}
	for _, c := range r.Calls {
		a.block(MarkCall, object("type", "tool_use", "id", c.ID, "name", c.Name, "input", object()), s.halves(c.Arguments), "input_json_delta", "partial_json")
	}
	a.add("message_delta", "", "delta", object("stop_reason", m.stop(r), "stop_sequence", nil), "usage", object("output_tokens", r.Usage.Output))
	a.events[len(a.events)-1].finish = true
	a.add("message_stop", "")
	return a.events, a.items
}

func (m messages) whole(r Reply, s style) string {
	content := list{}
	if r.Reasoning != "" {
		content = append(content, object("type", "thinking", "thinking", r.Reasoning, "signature", "sig"))
	}
	if text := r.Text + r.Data; text != "" {
		content = append(content, object("type", "text", "text", text))
	}
	for _, c := range r.Calls {
		content = append(content, object("type", "tool_use", "id", c.ID, "name", c.Name, "input", json.RawMessage(c.Arguments)))
	}
	return string(object("id", "msg_1", "type", "message", "role", "assistant", "model", s.model, "content", content, "stop_reason", m.stop(r),
		"usage", object("input_tokens", r.Usage.Input, "output_tokens", r.Usage.Output)))
}

func (messages) alive() string { return `{"type":"ping"}` }

// misdo leaves out ends and beginnings, repeats them, and mixes blocks.
func (messages) misdo(events []event, d *draw) []event {
	named := func(names ...string) func(event) bool {
		return func(e event) bool { return slices.Contains(names, e.name) }
	}
	events = d.repeat(events, "beginnings and ends twice", named("content_block_start", "content_block_stop", "message_stop", "ping"))
	events = d.repeat(events, "the finish twice", func(e event) bool { return e.finish })
	events = d.drop(events, "no ends of blocks", named("content_block_stop"))
	events = d.drop(events, "no message_start", named("message_start"))
	events = d.drop(events, "no message_stop", named("message_stop"))
	if d.may("no names of events", 4) {
		for i := range events {
			events[i].name = ""
		}
	}
	return d.forget(events, "index", "usage", "stop_sequence", "model", "role", "content", "signature")
}

func (messages) stop(r Reply) string {
	switch {
	case r.Finish == FinishLength:
		return "max_tokens"
	case r.Finish != "":
		return "refusal"
	case len(r.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// A messageStream is an answer in the making.
type messageStream struct {
	style  style
	index  int
	events []event
	items  []json.RawMessage
}

func (a *messageStream) add(name string, mark Mark, pairs ...any) {
	data := string(object(append([]any{"type", name}, pairs...)...))
	a.events = append(a.events, event{name: name, data: a.style.unknown(data), mark: mark})
}

// odd adds empty events.
func (a *messageStream) odd() {
	if a.style.Pings {
		a.add("ping", "")
	}
	if a.style.Unknown {
		a.add("x_unheard_of", "", "index", 77)
	}
}

// think adds signed thinking.
func (a *messageStream) think(text string) {
	if text == "" {
		return
	}
	signature := fmt.Sprintf("EqQB/%d+Ω==", a.style.reply)
	a.items = append(a.items, object("type", "thinking", "thinking", text, "signature", signature))
	a.begin(MarkReasoning, object("type", "thinking", "thinking", "", "signature", ""))
	for _, piece := range a.style.pieces(text) {
		a.delta(MarkReasoning, "thinking_delta", "thinking", piece)
	}
	a.delta(MarkReasoning, "signature_delta", "signature", signature)
	a.end(MarkReasoning)
}

// block adds a block whose one field grows.
func (a *messageStream) block(mark Mark, start json.RawMessage, pieces []string, kind, field string) {
	a.begin(mark, start)
	for _, piece := range pieces {
		a.delta(mark, kind, field, piece)
	}
	a.end(mark)
}

func (a *messageStream) begin(mark Mark, start json.RawMessage) {
	a.add("content_block_start", mark, "index", a.index, "content_block", start)
}

func (a *messageStream) delta(mark Mark, kind, field, piece string) {
	a.add("content_block_delta", mark, "index", a.index, "delta", object("type", kind, field, piece))
	a.events[len(a.events)-1].word = mark == MarkText
}

func (a *messageStream) end(mark Mark) {
	a.add("content_block_stop", mark, "index", a.index)
	a.index++
	a.odd()
}

func (messages) failing() event {
	return event{name: "error", data: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
}

func (messages) refusal(f Failure) (int, string) {
	said := map[FailureKind]struct {
		status     int
		kind, text string
	}{
		RateLimit:  {429, "rate_limit_error", "This request would exceed your organization's rate limit of 30,000 input tokens per minute."},
		Overloaded: {529, "overloaded_error", "Overloaded"},
		Broken:     {500, "api_error", "Internal server error"},
		BadKey:     {401, "authentication_error", "invalid x-api-key"},
		NoMoney:    {400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."},
		NoModel:    {404, "not_found_error", "model: claude-nope"},
		TooLong:    {400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"},
		BadRequest: {400, "invalid_request_error", "messages: at least one message is required"},
	}[f.Kind]
	return said.status, string(object("type", "error", "error", object("type", said.kind, "message", f.words(said.text)), "request_id", "req_1"))
}

// words are those of the failure, or the vendor's usual ones.
func (f Failure) words(usual string) string {
	if f.Message != "" {
		return f.Message
	}
	return usual
}
