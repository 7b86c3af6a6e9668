package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
	"jp/provider/openai"
)

var lookTool = provider.Tool{
	Name: "look", Description: "Looks.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}`),
}

func TestChatBody(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`)
	hi := []provider.Message{user(text("hi"))}
	const tool = `{"type":"function","function":{"name":"look","description":"Looks.",
		"parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}}}`
	const asked = `"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]`
	tests := []struct {
		name    string
		options openai.Options
		request provider.Request
		want    string
	}{
		{"least", openai.Options{}, provider.Request{}, `{` + asked + `}`},
		{"tools", openai.Options{}, provider.Request{Tools: []provider.Tool{lookTool}}, `{` + asked + `,"tools":[` + tool + `]}`},
		{
			"no tools may be called", openai.Options{}, provider.Request{Tools: []provider.Tool{lookTool}, NoTools: true},
			`{` + asked + `,"tools":[` + tool + `],"tool_choice":"none"}`,
		},
		{"no tools at all", openai.Options{}, provider.Request{NoTools: true}, `{` + asked + `}`},
		{
			"tool without parameters", openai.Options{}, provider.Request{Tools: []provider.Tool{{Name: "now"}}},
			`{` + asked + `,"tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}]}`,
		},
		{
			"strict schema", openai.Options{}, provider.Request{Schema: schema},
			`{` + asked + `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":` + string(schema) + `}}}`,
		},
		{
			"loose schema", openai.Options{}, provider.Request{Schema: json.RawMessage(`{"type":"object"}`)},
			`{` + asked + `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}}`,
		},
		{
			"limits", openai.Options{MaxTokens: 9, Reasoning: openai.Reasoning{Effort: "low"}}, provider.Request{},
			`{` + asked + `,"max_completion_tokens":9,"reasoning_effort":"low"}`,
		},
		{
			"model that does not reason", openai.Options{Reasoning: openai.Reasoning{Effort: "low"}, Lacks: openai.Lacks{Reasoning: true}},
			provider.Request{}, `{` + asked + `}`,
		},
		{
			"further fields", openai.Options{Extra: map[string]json.RawMessage{"temperature": []byte("0.5"), "a.b": []byte(`"c"`), "stream": []byte("false")}},
			provider.Request{}, `{` + asked + `,"temperature":0.5,"a.b":"c"}`,
		},
		{
			"max_tokens", openai.Options{MaxTokens: 9, Dialect: openai.Dialect{MaxTokensField: "max_tokens"}},
			provider.Request{}, `{` + asked + `,"max_tokens":9}`,
		},
		{
			"reasoning object", openai.Options{Reasoning: openai.Reasoning{Effort: "low"}, Dialect: openai.Dialect{ReasoningObject: true}},
			provider.Request{}, `{` + asked + `,"reasoning":{"effort":"low"}}`,
		},
		{
			"parallel calls", openai.Options{Dialect: openai.Dialect{ParallelCalls: true}}, provider.Request{Tools: []provider.Tool{lookTool}},
			`{` + asked + `,"tools":[` + tool + `],"parallel_tool_calls":true}`,
		},
		{
			"usage unasked", openai.Options{Dialect: openai.Dialect{NoStreamOptions: true}}, provider.Request{},
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`,
		},
		{
			"json_object", openai.Options{Dialect: openai.Dialect{JSONObject: true}},
			provider.Request{System: "Be brief.", Schema: json.RawMessage(`{"type":"object"}`)},
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"response_format":{"type":"json_object"},"messages":[
				{"role":"system","content":"Be brief.\n\nAnswer with one JSON object that satisfies this JSON schema: {\"type\":\"object\"}"},
				{"role":"user","content":"hi"}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.request.Model, tt.request.Messages = "m", hi
			require.JSONEq(t, tt.want, sentByChat(t, tt.options, &tt.request))
		})
	}
}

func TestChatMessages(t *testing.T) {
	const called = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"p\":1.0}"}}]}`
	one := assistant(call("c1", `{"p":1.0}`))
	tests := []struct {
		name     string
		messages []provider.Message
		want     string
	}{
		{"question", []provider.Message{user(text("hi"))}, `[{"role":"user","content":"hi"}]`},
		{"texts", []provider.Message{user(text("hi"), text("there"))}, `[{"role":"user","content":"hi\n\nthere"}]`},
		{
			"next turn", []provider.Message{user(text("hi")), assistant(text("ho")), user(text("more"))},
			`[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"more"}]`,
		},
		{
			"result", []provider.Message{user(text("hi")), one, results(result("c1", "seen"))},
			`[{"role":"user","content":"hi"},` + called + `,{"role":"tool","tool_call_id":"c1","content":"seen"}]`,
		},
		{
			"text and two calls", []provider.Message{
				user(text("hi")), assistant(text("I look."), call("c1", `{}`), call("c2", `{"q":"<\u0000>"}`)),
				results(result("c1", "a"), result("c2", "b")), user(text("resumed")),
			},
			`[{"role":"user","content":"hi"},
			  {"role":"assistant","content":"I look.","tool_calls":[
			   {"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},
			   {"id":"c2","type":"function","function":{"name":"look","arguments":"{\"q\":\"<\\u0000>\"}"}}]},
			  {"role":"tool","tool_call_id":"c1","content":"a"},{"role":"tool","tool_call_id":"c2","content":"b"},
			  {"role":"user","content":"resumed"}]`,
		},
		{
			"steps", []provider.Message{
				user(text("hi")), one, results(result("c1", "a")), assistant(text("again"), call("c2", `{}`)), results(result("c2", "b")),
			},
			`[{"role":"user","content":"hi"},` + called + `,{"role":"tool","tool_call_id":"c1","content":"a"},
			  {"role":"assistant","content":"again","tool_calls":[{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},
			  {"role":"tool","tool_call_id":"c2","content":"b"}]`,
		},
		{
			"reasoning stays here", []provider.Message{user(text("hi")), assistant(thought(`{"reasoning_content":"hm"}`), text("ho")), user(text("?"))},
			`[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"?"}]`,
		},
		{"answer paused elsewhere", []provider.Message{user(text("hi")), assistant(text("well"))}, `[{"role":"user","content":"hi"}]`},
		{
			"pictures of results", []provider.Message{
				user(text("hi")), assistant(call("c1", `{}`), call("c2", `{}`)),
				results(result("c1", "a"), file("a.png", "image/png", png), result("c2", "b"), file("b.txt", "text/plain", "words")), user(text("go on")),
			},
			`[{"role":"user","content":"hi"},
			  {"role":"assistant","content":null,"tool_calls":[
			   {"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},
			   {"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},
			  {"role":"tool","tool_call_id":"c1","content":"a"},
			  {"role":"tool","tool_call_id":"c2","content":"b\n\nFile \"b.txt\":\nwords"},
			  {"role":"user","content":[{"type":"text","text":"Image from look, result of c1:"},{"type":"image_url","image_url":{"url":"` + pngURL + `"}},{"type":"text","text":"go on"}]}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := sentByChat(t, openai.Options{}, &provider.Request{Model: "m", Messages: tt.messages})
			require.JSONEq(t, tt.want, member(t, body, "messages"))
		})
	}
}

func TestChatFiles(t *testing.T) {
	tests := []struct {
		name  string
		lacks openai.Lacks
		file  provider.Block
		want  string
	}{
		{"picture", openai.Lacks{}, file("a", "image/png", png), `{"type":"image_url","image_url":{"url":"` + pngURL + `"}}`},
		{"picture without a type", openai.Lacks{}, file("a", "", png), `{"type":"image_url","image_url":{"url":"` + pngURL + `"}}`},
		{"picture of another type", openai.Lacks{}, file("a", "image/jpeg", png), `"[file \"a\" (image/jpeg), 8 bytes, cannot be shown to this model]"`},
		{"claimed to be a picture", openai.Lacks{}, file("a", "image/png", "words"), `"[file \"a\" (image/png), 5 bytes, cannot be shown to this model]"`},
		{"picture nobody reads", openai.Lacks{}, file("a", "image/tiff", "II*\x00"), `"[file \"a\" (image/tiff), 4 bytes, cannot be shown to this model]"`},
		{"blind model", openai.Lacks{Images: true}, file("a", "image/png", png), `"[file \"a\" (image/png), 8 bytes, cannot be shown to this model]"`},
		{"text", openai.Lacks{}, file(`a"b`, "text/x-go; charset=utf-8", "package a"), `"File \"a\\\"b\":\npackage a"`},
		{"drawing", openai.Lacks{}, file("a.svg", "image/svg+xml", "<svg/>"), `"File \"a.svg\":\n<svg/>"`},
		{"binary", openai.Lacks{}, file("a", "text/plain", "a\x00b"), `"[file \"a\" (text/plain), 3 bytes, cannot be shown to this model]"`},
		{"PDF", openai.Lacks{}, file("a.pdf", "application/pdf", pdf), `{"type":"file","file":{"filename":"a.pdf","file_data":"` + pdfURL + `"}}`},
		{"PDF that is none", openai.Lacks{}, file("a.pdf", "application/pdf", "words"), `"[file \"a.pdf\" (application/pdf), 5 bytes, cannot be shown to this model]"`},
		{"model without files", openai.Lacks{Files: true}, file("a.pdf", "application/pdf", pdf), `"[file \"a.pdf\" (application/pdf), 10 bytes, cannot be shown to this model]"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := sentByChat(t, openai.Options{Lacks: tt.lacks}, &provider.Request{Model: "m", Messages: []provider.Message{user(tt.file)}})
			want := tt.want
			if want[0] == '{' {
				want = "[" + want + "]"
			}
			require.JSONEq(t, `[{"role":"user","content":`+want+`}]`, member(t, body, "messages"))
		})
	}
}

func TestStrictSchemas(t *testing.T) {
	object := func(members string) string {
		return `{"type":"object","additionalProperties":false,` + members + `}`
	}
	tests := map[string]bool{
		object(`"properties":{"a":{"type":"string","enum":["x"]},"b":{"type":"array","items":{"type":"integer"}}},"required":["b","a"]`): true,
		object(`"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"]`):                                      true,
		object(`"properties":{"a":{"anyOf":[{"type":"string","format":"x-mine"}]}},"required":["a"]`):                                    false,
		object(`"properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"]`):                                         false,
		object(`"properties":{"a":{"type":"string"}},"required":[]`):                                                                     false,
		object(`"properties":{"a":{"type":"string"}},"required":["b"]`):                                                                  false,
		object(`"properties":{"a":true},"required":["a"]`):                                                                               false,
		`{"type":"object","properties":{}}`:                                                                                              false,
		`{"type":"string"}`:                                                                                                              false,
		`true`:                                                                                                                           false,
	}
	for schema, want := range tests {
		body := openai.ChatBody(&provider.Request{Schema: json.RawMessage(schema)}, openai.Options{})
		require.Equal(t, want, strings.Contains(string(body), `"strict":true`), schema)
	}
}

func TestEqualRequestsGiveEqualBytes(t *testing.T) {
	request := &provider.Request{
		Model: "m", System: "s", Tools: []provider.Tool{lookTool},
		Messages: []provider.Message{user(text("hi")), assistant(thought(`{"reasoning_details":[{"b":1,"a":2}]}`), call("call_1", `{}`)), results(result("call_1", "a"))},
	}
	o := openai.Options{
		MaxTokens: 5, Extra: map[string]json.RawMessage{"top_p": []byte("1"), "seed": []byte("2"), "user": []byte(`"u"`)},
		Dialect: openai.Dialect{IDs: openai.AlnumIDs, ReasoningDetails: true, ToolNameField: "name"},
	}
	chat, responses := sentByChat(t, o, request), sentByResponses(t, o, request)
	for range 5 {
		require.Equal(t, chat, sentByChat(t, o, request))
		require.Equal(t, responses, sentByResponses(t, o, request))
	}
}
