package vendortest

import (
	"encoding/json"
	"fmt"
	"slices"

	"jp/internal/testing/wirecheck"
)

// responses is the Responses API of OpenAI.
type responses struct{}

func (responses) format() wirecheck.API { return wirecheck.OpenAIResponses }

func (responses) judge(body []byte, _ string, known known) []wirecheck.Violation {
	return wirecheck.Responses(body, wirecheck.Capability{Received: known.received, Given: known.given})
}

func (responses) models(name string) string { return openaiModels(name) }

func openaiModels(name string) string {
	return string(object("object", "list", "data", list{object("id", name, "object", "model", "created", 1, "owned_by", "somebody")}))
}

func (r responses) events(reply Reply, s style) ([]event, []json.RawMessage) {
	a := responseStream{style: s}
	a.add("response.created", "", "response", a.response("in_progress", nil, nil))
	a.odd()
	if reply.Reasoning != "" {
		a.reasoning(reply.Reasoning)
	}
	if text := reply.Text + reply.Data; text != "" {
		a.message(text, reply)
	}
	var calls [][]event
	for _, c := range reply.Calls {
		calls = append(calls, a.call(c))
	}
	a.events = append(a.events, s.turns(calls)...)
	u := reply.Usage
	usage := object("input_tokens", u.Input, "input_tokens_details", object("cached_tokens", u.Cached),
		"output_tokens", u.Output, "output_tokens_details", object("reasoning_tokens", 0), "total_tokens", u.Input+u.Output)
	if reply.Finish == FinishLength {
		a.add("response.incomplete", "", "response", a.response("incomplete", usage, object("reason", "max_output_tokens")))
		return a.events, nil
	}
	var why any
	kind, status := "response.completed", "completed"
	if reply.Finish == FinishFiltered {
		kind, status, why = "response.incomplete", "incomplete", object("reason", "content_filter")
	}
	a.add(kind, "", "response", a.response(status, usage, why))
	a.events[len(a.events)-1].finish = true
	return a.events, a.items
}

func (r responses) whole(reply Reply, s style) string {
	a := responseStream{style: style{model: s.model, reply: s.reply}}
	if reply.Reasoning != "" {
		a.reasoning(reply.Reasoning)
	}
	if text := reply.Text + reply.Data; text != "" {
		a.message(text, reply)
	}
	for _, c := range reply.Calls {
		a.call(c)
	}
	return string(a.response("completed", object("input_tokens", reply.Usage.Input, "output_tokens", reply.Usage.Output), nil))
}

func (responses) alive() string { return `{"type":"keepalive","sequence_number":9}` }

// misdo says everything twice, or only once: as pieces, as items, or at the end.
func (responses) misdo(events []event, d *draw) []event {
	named := func(names ...string) func(event) bool {
		return func(e event) bool { return slices.Contains(names, e.name) }
	}
	events = d.repeat(events, "items twice", named("response.created", "response.output_item.added", "response.output_item.done", "response.function_call_arguments.done"))
	switch way := d.IntN(8); {
	case way == 0:
		d.ways = append(d.ways, "no pieces")
		events = slices.DeleteFunc(events, named("response.output_text.delta", "response.function_call_arguments.delta", "response.reasoning_summary_text.delta"))
	case way == 1:
		d.ways = append(d.ways, "no ends of items")
		events = slices.DeleteFunc(events, named("response.output_item.done"))
	case way == 2:
		d.ways = append(d.ways, "only the last event")
		events = slices.DeleteFunc(events, func(e event) bool { return !e.finish })
	case way == 3:
		d.ways = append(d.ways, "no output in the last event")
		for i := range events {
			if events[i].finish {
				events[i].data = without(events[i].data, "output")
			}
		}
	}
	events = d.drop(events, "no parts", named("response.content_part.added", "response.reasoning_summary_part.added", "response.created"))
	if d.may("no names of events", 4) {
		for i := range events {
			events[i].name = ""
		}
	}
	return d.forget(events, "sequence_number", "item_id", "content_index", "summary_index", "status", "role", "phase", "annotations", "logprobs", "usage", "object", "model")
}

// A responseStream is a response in the making.
type responseStream struct {
	style    style
	index    int // of the next item
	sequence int
	events   []event
	items    []json.RawMessage
}

func (a *responseStream) response(status string, usage, incomplete any) json.RawMessage {
	return object("id", fmt.Sprintf("resp_%d", a.style.reply), "object", "response", "status", status, "model", a.style.model,
		"output", slices.Concat(a.items, []json.RawMessage{}), "error", nil, "incomplete_details", incomplete, "usage", usage)
}

func (a *responseStream) event(name string, mark Mark, pairs ...any) event {
	data := string(object(append([]any{"type", name, "sequence_number", a.sequence}, pairs...)...))
	a.sequence++
	return event{name: name, data: a.style.unknown(data), mark: mark}
}

func (a *responseStream) add(name string, mark Mark, pairs ...any) {
	a.events = append(a.events, a.event(name, mark, pairs...))
}

func (a *responseStream) odd() {
	if a.style.Pings {
		a.add("keepalive", "")
	}
	if a.style.Unknown {
		a.add("response.x_unheard_of.delta", "", "output_index", 77, "delta", "no")
	}
}

func (a *responseStream) id(kind string) string {
	return fmt.Sprintf("%s_%d_%d", kind, a.style.reply, a.index)
}

func (a *responseStream) reasoning(text string) {
	id, at := a.id("rs"), a.index
	a.add("response.output_item.added", MarkReasoning, "output_index", at, "item", object("id", id, "type", "reasoning", "summary", list{}))
	a.add("response.reasoning_summary_part.added", MarkReasoning, "item_id", id, "output_index", at, "summary_index", 0,
		"part", object("type", "summary_text", "text", ""))
	for _, piece := range a.style.pieces(text) {
		a.add("response.reasoning_summary_text.delta", MarkReasoning, "item_id", id, "output_index", at, "summary_index", 0, "delta", piece)
	}
	item := object("id", id, "type", "reasoning", "encrypted_content", "gAAAA/"+id+"+Ω==",
		"summary", list{object("type", "summary_text", "text", text)})
	a.done(MarkReasoning, item)
}

// done ends the item, which is the next one.
func (a *responseStream) done(mark Mark, item json.RawMessage) {
	a.events = append(a.events, a.finished(mark, item))
	a.odd()
}

func (a *responseStream) finished(mark Mark, item json.RawMessage) event {
	e := a.event("response.output_item.done", mark, "output_index", a.index, "item", item)
	a.items = append(a.items, item)
	a.index++
	return e
}

func (a *responseStream) message(text string, reply Reply) {
	id, at, phase := a.id("msg"), a.index, "final_answer"
	if len(reply.Calls) > 0 {
		phase = "commentary"
	}
	kind, field := "output_text", "text"
	if reply.Finish == FinishRefusal {
		kind, field = "refusal", "refusal"
	}
	a.add("response.output_item.added", MarkText, "output_index", at, "item",
		object("id", id, "type", "message", "status", "in_progress", "role", "assistant", "phase", phase, "content", list{}))
	a.add("response.content_part.added", MarkText, "item_id", id, "output_index", at, "content_index", 0, "part", object("type", kind, field, ""))
	for _, piece := range a.style.pieces(text) {
		a.add("response."+kind+".delta", MarkText, "item_id", id, "output_index", at, "content_index", 0, "delta", piece)
		a.events[len(a.events)-1].word = true
	}
	part := object("type", kind, field, text)
	if kind == "output_text" {
		part = object("type", kind, field, text, "annotations", list{}, "logprobs", list{})
	}
	a.done(MarkText, object("id", id, "type", "message", "status", "completed", "role", "assistant", "phase", phase, "content", list{part}))
}

// call are the events of a function call.
func (a *responseStream) call(c Call) []event {
	id, at := a.id("fc"), a.index
	item := func(status, arguments string) json.RawMessage {
		return object("id", id, "type", "function_call", "status", status, "call_id", c.ID, "name", c.Name, "arguments", arguments)
	}
	events := []event{a.event("response.output_item.added", MarkCall, "output_index", at, "item", item("in_progress", ""))}
	for _, piece := range a.style.halves(c.Arguments) {
		events = append(events, a.event("response.function_call_arguments.delta", MarkCall, "item_id", id, "output_index", at, "delta", piece))
	}
	events = append(events, a.event("response.function_call_arguments.done", MarkCall, "item_id", id, "output_index", at, "arguments", c.Arguments))
	return append(events, a.finished(MarkCall, item("completed", c.Arguments)))
}

func (responses) failing() event {
	return event{name: "error", data: `{"type":"error","code":"server_is_overloaded","message":"Our servers are currently overloaded.","param":null,"sequence_number":9}`}
}

func (responses) refusal(f Failure) (int, string) { return openaiRefusal(f) }

func openaiRefusal(f Failure) (int, string) {
	said := map[FailureKind]struct {
		status           int
		kind, code, text string
	}{
		RateLimit:  {429, "requests", "rate_limit_exceeded", "Rate limit reached for gpt-5.1 in organization org-1 on requests per min (RPM): Limit 3, Used 3."},
		Overloaded: {503, "service_unavailable_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later."},
		Broken:     {500, "server_error", "server_error", "The server had an error while processing your request."},
		BadKey:     {401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: key-for-****lone."},
		NoMoney:    {429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
		NoModel:    {404, "invalid_request_error", "model_not_found", "The model `gpt-nope` does not exist or you do not have access to it."},
		TooLong:    {400, "invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model."},
		BadRequest: {400, "invalid_request_error", "invalid_value", "Invalid value: 'nope'."},
	}[f.Kind]
	return said.status, string(object("error", object("message", f.words(said.text), "type", said.kind, "param", nil, "code", said.code)))
}
