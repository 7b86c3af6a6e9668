package peertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Final is the model's answer without tool calls.
const Final = "It is done."

// A Call is a tool call that the model asks for. The arguments are an object, or the text of a free-form tool.
type Call struct {
	Tool      string
	Arguments any
}

// A Model is the server of a scripted model. It speaks Messages, Responses and Chat Completions.
type Model struct {
	*httptest.Server
	mu       sync.Mutex
	answers  [][]Call
	requests int
	newest   []byte
}

// NewModel starts a model until the test ends.
func NewModel(t testing.TB) *Model {
	m := &Model{}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// Answer adds an answer with tool calls. Behind the last one the model ends the turn.
func (m *Model) Answer(calls ...Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = append(m.answers, calls)
}

// Newest is the newest request with tools.
func (m *Model) Newest() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.newest
}

// next takes an answer, and numbers it. An agent asks for a title with at most one tool.
func (m *Model) next(request []byte, tools int) (calls []Call, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests++; tools > 0 {
		m.newest = request
	}
	if tools > 1 && len(m.answers) > 0 {
		calls, m.answers = m.answers[0], m.answers[1:]
	}
	return calls, m.requests
}

// ServeHTTP implements [http.Handler].
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Stream bool
		Tools  []any
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &request)
	path := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	events := map[string]func([]Call, int) []any{"messages": messages, "responses": responses, "completions": completions}[path]
	switch {
	case r.Method != http.MethodPost || events == nil:
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[],"input_tokens":10}`)
		return
	case !request.Stream:
		_, _ = io.WriteString(w, text(object{
			"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_reason": "end_turn", "stop_sequence": nil, "usage": usage(), "content": []any{object{"type": "text", "text": Final}},
		}))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events(m.next(body, len(request.Tools))) {
		if kind, ok := e.(object)["type"]; ok {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", text(e))
	}
	if path == "completions" {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

type object = map[string]any

const model = "claude-opus-4-8"

func usage() object { return object{"input_tokens": 100, "output_tokens": 5} }

func text(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func messages(calls []Call, n int) []any {
	events := []any{object{"type": "message_start", "message": object{
		"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage(),
	}}}
	block := func(i int, start, delta object) {
		events = append(events, object{"type": "content_block_start", "index": i, "content_block": start},
			object{"type": "content_block_delta", "index": i, "delta": delta}, object{"type": "content_block_stop", "index": i})
	}
	reason := "tool_use"
	for i, c := range calls {
		block(i, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.Tool, "input": object{}}, object{"type": "input_json_delta", "partial_json": text(c.Arguments)})
	}
	if len(calls) == 0 {
		reason = "end_turn"
		block(0, object{"type": "text", "text": ""}, object{"type": "text_delta", "text": Final})
	}
	return append(events, object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage()}, object{"type": "message_stop"})
}

func responses(calls []Call, n int) []any {
	response := func(status string) object {
		return object{"id": fmt.Sprint("resp_", n), "object": "response", "status": status, "usage": object{"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}}
	}
	var items []any
	for i, c := range calls {
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", n, i), "call_id": fmt.Sprintf("call_%d_%d", n, i), "name": c.Tool}
		if free, is := c.Arguments.(string); is {
			item["type"], item["input"] = "custom_tool_call", free
		} else {
			item["arguments"] = text(c.Arguments)
		}
		items = append(items, item)
	}
	if len(calls) == 0 {
		items = []any{object{"type": "message", "id": fmt.Sprint("msg_", n), "role": "assistant", "content": []any{object{"type": "output_text", "text": Final}}}}
	}
	events := []any{object{"type": "response.created", "response": response("in_progress")}}
	for i, item := range items {
		events = append(events, object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	return append(events, object{"type": "response.completed", "response": response("completed")})
}

func completions(calls []Call, n int) []any {
	delta, reason := object{"role": "assistant", "content": Final}, "stop"
	if len(calls) > 0 {
		var all []any
		for i, c := range calls {
			all = append(all, object{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function", "function": object{"name": c.Tool, "arguments": text(c.Arguments)}})
		}
		delta, reason = object{"role": "assistant", "content": nil, "tool_calls": all}, "tool_calls"
	}
	chunk := func(choice object) any {
		return object{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "mock", "choices": []any{choice}}
	}
	return []any{chunk(object{"index": 0, "delta": delta}), chunk(object{"index": 0, "delta": object{}, "finish_reason": reason})}
}
