package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// A model answers on loopback in the three protocols that the programs speak. It asks for a command so many times in a row,
// and then ends the turn with a sentence.
type model struct {
	*httptest.Server
	command string

	mu    sync.Mutex
	left  int // calls that the turn still asks for
	asked int // requests of the turn that offer a shell
	first int // bytes of the first of these
	ended int // turns that ended with the sentence
}

// sentence ends each turn.
const sentence = "It is done."

func newModel(command string) *model {
	m := &model{command: command}
	m.Server = httptest.NewServer(m)
	return m
}

// begin sets how many calls the next turn asks for.
func (m *model) begin(calls int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left, m.asked, m.first, m.ended = calls, 0, 0, 0
}

// shells are the arguments of the tool that runs a command, by its name.
func (m *model) shells() map[string]any {
	script := map[string]any{"command": m.command, "description": "run"}
	return map[string]any{
		"shell_run":    map[string]any{"argv": []string{"sh", "-c", m.command}},                                 // jp
		"exec_command": map[string]any{"cmd": m.command}, "shell_command": map[string]any{"command": m.command}, // Codex
		"bash": script, "Bash": script, // opencode, Claude Code
	}
}

// A request has the fields that tell the protocols' requests apart.
type request struct {
	Stream bool
	Tools  []struct {
		Name     string
		Function struct{ Name string }
	}
}

// next is the tool that the model asks for, "" for the sentence. A request without a shell is for a title.
func (m *model) next(r request, size int) (tool string, number int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range r.Tools {
		if name := t.Name + t.Function.Name; m.shells()[name] != nil {
			tool = name
			break
		}
	}
	if tool == "" {
		return "", 0
	}
	if m.asked++; m.asked == 1 {
		m.first = size
	}
	if m.left == 0 {
		m.ended++
		return "", m.asked
	}
	m.left--
	return tool, m.asked
}

// ServeHTTP implements [http.Handler].
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked request
	_ = json.Unmarshal(body, &asked)
	protocol := map[bool]func(string, int) []any{
		strings.HasSuffix(r.URL.Path, "/messages"): m.messages, strings.HasSuffix(r.URL.Path, "/responses"): m.responses,
		strings.HasSuffix(r.URL.Path, "/chat/completions"): m.chat,
	}[true]
	switch {
	case r.Method != http.MethodPost || protocol == nil:
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[],"input_tokens":10}`)
		return
	case !asked.Stream:
		_, _ = io.WriteString(w, `{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","usage":{"input_tokens":100,"output_tokens":5},"content":[{"type":"text","text":"A title"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range protocol(m.next(asked, len(body))) {
		if kind, ok := event.(object)["type"]; ok {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		text, _ := json.Marshal(event)
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

type object = map[string]any

// arguments are those of a tool, as a text.
func (m *model) arguments(tool string) string {
	text, _ := json.Marshal(m.shells()[tool])
	return string(text)
}

// messages answers as Anthropic's API does.
func (m *model) messages(tool string, n int) []any {
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": sentence}, "end_turn"
	if tool != "" {
		block = object{"type": "tool_use", "id": fmt.Sprint("toolu_", n), "name": tool, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": m.arguments(tool)}, "tool_use"
	}
	usage := object{"input_tokens": 100, "output_tokens": 5}
	return []any{
		object{"type": "message_start", "message": object{"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": "m", "content": []any{}, "usage": usage}},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 5}},
		object{"type": "message_stop"},
	}
}

// responses answers as OpenAI's API does.
func (m *model) responses(tool string, n int) []any {
	item := object{"type": "message", "id": fmt.Sprint("msg_", n), "role": "assistant", "content": []any{object{"type": "output_text", "text": sentence}}}
	if tool != "" {
		item = object{"type": "function_call", "id": fmt.Sprint("fc_", n), "call_id": fmt.Sprint("call_", n), "name": tool, "arguments": m.arguments(tool)}
	}
	id, usage := fmt.Sprint("resp_", n), object{"input_tokens": 100, "output_tokens": 5, "total_tokens": 105}
	return []any{
		object{"type": "response.created", "response": object{"id": id, "object": "response", "status": "in_progress"}},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": object{"id": id, "object": "response", "status": "completed", "usage": usage}},
	}
}

// chat answers as OpenAI's older API does, which most others speak.
func (m *model) chat(tool string, n int) []any {
	delta, reason := object{"role": "assistant", "content": sentence}, "stop"
	if tool != "" {
		call := object{"index": 0, "id": fmt.Sprint("call_", n), "type": "function", "function": object{"name": tool, "arguments": m.arguments(tool)}}
		delta, reason = object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
	}
	base := func(choices ...any) object {
		return object{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
	}
	return []any{base(object{"index": 0, "delta": delta}), base(object{"index": 0, "delta": object{}, "finish_reason": reason})}
}
