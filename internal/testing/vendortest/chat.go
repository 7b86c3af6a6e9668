package vendortest

import (
	"encoding/json"
	"fmt"
	"strings"

	"jp/internal/testing/wirecheck"
)

// A flavour is how a server of Chat Completions differs from the others.
type flavour int

// The flavours.
const (
	plainChat  flavour = iota
	openrouter         // comments, reasoning_details, usage.cost
	ollama             // reasoning, whole calls
)

// chat is Chat Completions.
type chat struct {
	flavour    flavour
	compatible *compatible // optional
}

// stores reports whether something of the reasoning has to go back.
func (c chat) stores() bool { return c.flavour == openrouter }

func (chat) format() wirecheck.API { return wirecheck.OpenAIChat }

func (c chat) judge(body []byte, _ string, known known) []wirecheck.Violation {
	able := wirecheck.Capability{Received: known.received, Given: known.given}
	if c.compatible != nil {
		able.Chat = c.compatible.dialect
	}
	switch c.flavour {
	case openrouter:
		able.Chat = wirecheck.ChatDialect{ReasoningDetails: true, MaxTokens: "max_tokens"}
	case ollama:
		able.Chat = wirecheck.ChatDialect{MaxTokens: "max_tokens", ManyTools: true}
	}
	return wirecheck.Chat(body, able)
}

func (chat) models(name string) string { return openaiModels(name) }

func (c chat) events(r Reply, s style) ([]event, []json.RawMessage) {
	a := chatStream{style: s, flavour: c.flavour, reasoning: c.reasoning()}
	a.delta("", object("role", "assistant", "content", ""))
	a.odd()
	a.think(r.Reasoning)
	field := "content"
	if r.Finish == FinishRefusal {
		field = "refusal"
	}
	for _, piece := range s.pieces(r.Text + r.Data) {
		a.delta(MarkText, object(field, piece))
	}
	var calls [][]event
	for i, call := range r.Calls {
		calls = append(calls, a.call(i, call))
	}
	a.events = append(a.events, s.turns(calls)...)
	a.odd()
	a.chunk("", list{object("index", 0, "delta", object(), "logprobs", nil, "finish_reason", c.stop(r))}, nil)
	a.events[len(a.events)-1].finish = true
	a.chunk("", list{}, c.usage(r.Usage))
	a.events = append(a.events, event{data: "[DONE]"})
	return a.events, a.items
}

func (c chat) whole(r Reply, s style) string {
	message := []any{"role", "assistant", "content", r.Text + r.Data}
	if field := c.reasoning(); r.Reasoning != "" && field != "" {
		message = append(message, field, r.Reasoning)
	}
	calls := list{}
	for _, call := range r.Calls {
		calls = append(calls, object("id", call.ID, "type", "function", "function", object("name", call.Name, "arguments", call.Arguments)))
	}
	if len(calls) > 0 {
		message = append(message, "tool_calls", calls)
	}
	return string(object("id", "chatcmpl-1", "object", "chat.completion", "created", 1, "model", s.model,
		"choices", list{object("index", 0, "message", object(message...), "finish_reason", c.stop(r))}, "usage", c.usage(r.Usage)))
}

// reasoning is the field that the server has its reasoning in, "" if it reveals none.
func (c chat) reasoning() string {
	switch {
	case c.compatible != nil:
		return c.compatible.reasoning
	case c.flavour == plainChat:
		return "reasoning_content"
	}
	return "reasoning"
}

func (chat) alive() string { return `{"choices":[{"index":0,"delta":{"content":""}}]}` }

// misdo leaves out the events behind the finish, repeats it, and leaves out fields.
func (chat) misdo(events []event, d *draw) []event {
	done := func(e event) bool { return e.data == "[DONE]" }
	events = d.repeat(events, "the finish twice", func(e event) bool { return e.finish })
	events = d.repeat(events, "the end twice", done)
	events = d.drop(events, "no [DONE]", done)
	events = d.drop(events, "no usage", func(e event) bool { return !e.finish && strings.Contains(e.data, `"prompt_tokens"`) })
	return d.forget(events, "role", "object", "created", "logprobs", "model", "usage", "type")
}

func (chat) stop(r Reply) string {
	switch {
	case r.Finish == FinishLength:
		return "length"
	case r.Finish == FinishFiltered:
		return "content_filter"
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (c chat) usage(u Usage) json.RawMessage {
	pairs := []any{"prompt_tokens", u.Input, "completion_tokens", u.Output, "total_tokens", u.Input + u.Output,
		"prompt_tokens_details", object("cached_tokens", u.Cached)}
	if c.flavour == openrouter && u.Cost != "" {
		pairs = append(pairs, "cost", json.RawMessage(u.Cost))
	}
	return object(pairs...)
}

// A chatStream is a completion in the making.
type chatStream struct {
	style     style
	flavour   flavour
	reasoning string // the field; "" if the server has none
	events    []event
	items     []json.RawMessage
}

func (a *chatStream) event(mark Mark, choices list, usage any) event {
	data := object("id", fmt.Sprintf("chatcmpl-%d", a.style.reply), "object", "chat.completion.chunk", "created", 1, "model", a.style.model,
		"choices", choices, "usage", usage)
	return event{data: a.style.unknown(string(data)), mark: mark, word: mark == MarkText}
}

func (a *chatStream) chunk(mark Mark, choices list, usage any) {
	a.events = append(a.events, a.event(mark, choices, usage))
}

func (a *chatStream) delta(mark Mark, delta json.RawMessage) {
	if a.flavour == openrouter {
		a.events = append(a.events, event{comment: true})
	}
	a.chunk(mark, list{choice(delta)}, nil)
}

func choice(delta json.RawMessage) json.RawMessage {
	return object("index", 0, "delta", delta, "logprobs", nil, "finish_reason", nil)
}

func (a *chatStream) odd() {
	if a.style.Pings {
		a.chunk("", list{}, nil)
	}
	if a.style.Unknown {
		a.events = append(a.events, event{name: "x_unheard_of", data: `{"object":"x.unheard.of","choices":[]}`})
	}
}

// think adds reasoning, in the flavour's field.
func (a *chatStream) think(text string) {
	field := a.reasoning
	if text == "" || field == "" {
		return
	}
	detail := func(pairs ...any) list {
		return list{object(append([]any{"type", "reasoning.text"}, append(pairs, "format", "anthropic-claude-v1", "index", 0)...)...)}
	}
	for _, piece := range a.style.pieces(text) {
		if a.flavour == openrouter {
			a.delta(MarkReasoning, object("content", "", field, piece, "reasoning_details", detail("text", piece)))
			continue
		}
		a.delta(MarkReasoning, object(field, piece))
	}
	if a.flavour != openrouter {
		return
	}
	signature := fmt.Sprintf("sig/%d+Ω==", a.style.reply)
	a.delta(MarkReasoning, object("content", "", field, nil, "reasoning_details", detail("text", "", "signature", signature)))
	a.items = append(a.items, encode(detail("text", text, "signature", signature)))
}

// call are the deltas of a tool call.
func (a *chatStream) call(index int, c Call) (events []event) {
	add := func(pairs ...any) {
		call := object(append([]any{"index", index}, pairs...)...)
		events = append(events, a.event(MarkCall, list{choice(object("tool_calls", list{call}))}, nil))
	}
	if a.flavour == ollama {
		add("id", c.ID, "type", "function", "function", object("name", c.Name, "arguments", c.Arguments))
		return events
	}
	add("id", c.ID, "type", "function", "function", object("name", c.Name, "arguments", ""))
	for _, piece := range a.style.halves(c.Arguments) {
		add("function", object("arguments", piece))
	}
	return events
}

func (chat) failing() event {
	return event{data: `{"error":{"code":502,"message":"Provider returned error"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`}
}

func (c chat) refusal(f Failure) (int, string) {
	if c.flavour != openrouter {
		return openaiRefusal(f)
	}
	said := map[FailureKind]struct {
		status int
		text   string
	}{
		RateLimit:  {429, "Provider returned error"},
		Overloaded: {503, "No instances available"},
		Broken:     {502, "Provider returned error"},
		BadKey:     {401, "No auth credentials found"},
		NoMoney:    {402, "Insufficient credits. Add more using https://openrouter.ai/credits"},
		NoModel:    {404, "No endpoints found for nobody/nope."},
		TooLong:    {400, "This endpoint's maximum context length is 200000 tokens. However, you requested about 210000 tokens."},
		BadRequest: {400, "Input required: specify \"prompt\" or \"messages\""},
	}[f.Kind]
	return said.status, string(object("error", object("message", f.words(said.text), "code", said.status), "user_id", "user_1"))
}
