package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
	"jp/provider/openai"
)

func TestResponsesBody(t *testing.T) {
	hi := []provider.Message{user(text("hi"))}
	const asked = `"model":"m","stream":true,"store":false,
		"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]`
	const included = asked + `,"include":["reasoning.encrypted_content"]`
	const tool = `{"type":"function","name":"look","description":"Looks.","strict":false,
		"parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}}`
	tests := []struct {
		name    string
		options openai.Options
		request provider.Request
		want    string
	}{
		{"least", openai.Options{}, provider.Request{}, `{` + included + `}`},
		{"system", openai.Options{}, provider.Request{System: "Be brief."}, `{` + included + `,"instructions":"Be brief."}`},
		{"tools", openai.Options{}, provider.Request{Tools: []provider.Tool{lookTool}}, `{` + included + `,"tools":[` + tool + `]}`},
		{
			"no tools may be called", openai.Options{}, provider.Request{Tools: []provider.Tool{lookTool}, NoTools: true},
			`{` + included + `,"tools":[` + tool + `],"tool_choice":"none"}`,
		},
		{
			"strict schema", openai.Options{}, provider.Request{Schema: json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)},
			`{` + included + `,"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}}`,
		},
		{
			"loose schema", openai.Options{}, provider.Request{Schema: json.RawMessage(`{"type":"object","minProperties":1}`)},
			`{` + included + `,"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","minProperties":1}}}}`,
		},
		{
			"limits", openai.Options{MaxTokens: 9, Reasoning: openai.Reasoning{Effort: "high", Summary: "auto"}}, provider.Request{},
			`{` + included + `,"max_output_tokens":9,"reasoning":{"effort":"high","summary":"auto"}}`,
		},
		{
			"model that does not reason", openai.Options{Lacks: openai.Lacks{Reasoning: true}, Reasoning: openai.Reasoning{Effort: "high"}}, provider.Request{},
			`{` + asked + `}`,
		},
		{
			"further fields", openai.Options{Extra: map[string]json.RawMessage{"service_tier": []byte(`"flex"`)}}, provider.Request{},
			`{` + included + `,"service_tier":"flex"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.request.Model, tt.request.Messages = "m", hi
			require.JSONEq(t, tt.want, sentByResponses(t, tt.options, &tt.request))
		})
	}
}

// Items as a server sends them.
const (
	reasoningItem = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"thinking"}],"encrypted_content":"gAAA","n":1.50}`
	commentItem   = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"I look.","annotations":[]}]}`
	callItem      = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"look","arguments":"{\"p\": 1}"}`
	secondItem    = `{"id":"fc_2","type":"function_call","call_id":"c2","name":"look","arguments":"{}"}`
)

func TestResponsesInput(t *testing.T) {
	const hi = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
	const more = `{"type":"message","role":"user","content":[{"type":"input_text","text":"more"}]}`
	const output = `{"type":"function_call_output","call_id":"c1","output":"seen"}`
	const plainCall = `{"type":"function_call","call_id":"c1","name":"look","arguments":"{\"p\":1}"}`
	const rawMessage = `{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"I look.","annotations":[]}]}`
	const rawCall = `{"id":"fc_1","type":"function_call","call_id":"c1","name":"look","arguments":"{\"p\": 1}"}`
	const plainMessage = `{"type":"message","role":"assistant","phase":"commentary","content":"I look."}`
	whole := []provider.Block{thought(reasoningItem), with(text("I look."), commentItem), with(call("c1", `{"p":1}`), callItem)}
	after := func(blocks ...provider.Block) []provider.Message {
		return []provider.Message{user(text("hi")), assistant(blocks...), results(result("c1", "seen"))}
	}
	changed := func(at int, b provider.Block) []provider.Message {
		blocks := append([]provider.Block{}, whole...)
		blocks[at] = b
		return after(blocks...)
	}
	without := `[` + hi + `,` + plainMessage + `,` + plainCall + `,` + output + `]`
	tests := []struct {
		name     string
		lacks    openai.Lacks
		messages []provider.Message
		want     string
	}{
		{"question", openai.Lacks{}, []provider.Message{user(text("hi"))}, `[` + hi + `]`},
		{
			"next turn", openai.Lacks{}, []provider.Message{user(text("hi")), assistant(text("ho")), user(text("more"))},
			`[` + hi + `,{"type":"message","role":"assistant","content":"ho"},` + more + `]`,
		},
		{"as received", openai.Lacks{}, after(whole...), `[` + hi + `,` + reasoningItem + `,` + rawMessage + `,` + rawCall + `,` + output + `]`},
		{
			"two calls, their results behind them, then the user", openai.Lacks{},
			[]provider.Message{
				user(text("hi")), assistant(thought(reasoningItem), with(call("c1", `{"p":1}`), callItem), with(call("c2", `{}`), secondItem)),
				results(result("c1", "seen"), result("c2", "b")), user(text("more")),
			},
			`[` + hi + `,` + reasoningItem + `,` + rawCall + `,` + secondItem + `,` + output + `,{"type":"function_call_output","call_id":"c2","output":"b"},` + more + `]`,
		},
		{"without its reasoning", openai.Lacks{}, after(whole[1:]...), without},
		{"model that does not reason", openai.Lacks{Reasoning: true}, after(whole...), without},
		{"item of a sibling missing", openai.Lacks{}, changed(2, call("c1", `{"p":1}`)), without},
		{"text changed since", openai.Lacks{}, changed(1, with(text("I [redacted]."), commentItem)), strings.Replace(without, "I look.", "I [redacted].", 1)},
		{"arguments changed since", openai.Lacks{}, changed(2, with(call("c1", `{}`), callItem)), strings.Replace(without, `{\"p\":1}`, `{}`, 1)},
		{"reasoning cannot be read", openai.Lacks{}, changed(0, thought(`{"id":"rs_1","type":"reasoning","summary":[]}`)), without},
		{"reasoning of another API", openai.Lacks{}, changed(0, thought(`{"reasoning_content":"hm"}`)), without},
		{"id too long", openai.Lacks{}, changed(0, thought(strings.Replace(reasoningItem, "rs_1", strings.Repeat("r", 65), 1))), without},
		{
			"reasoning that lost its item", openai.Lacks{}, after(thought(reasoningItem), thought(reasoningItem), with(call("c1", `{"p":1}`), callItem)),
			`[` + hi + `,` + plainCall + `,` + output + `]`,
		},
		{
			"reasoning behind the last item", openai.Lacks{}, after(with(call("c1", `{"p":1}`), callItem), thought(reasoningItem)),
			`[` + hi + `,` + plainCall + `,` + output + `]`,
		},
		{"answer paused elsewhere", openai.Lacks{}, []provider.Message{user(text("hi")), assistant(text("well"))}, `[` + hi + `]`},
		{
			"files of the user", openai.Lacks{}, []provider.Message{user(file("a.png", "image/png", png), file("a.pdf", "application/pdf", pdf), file("a.txt", "", "words"), text("hi"))},
			`[{"type":"message","role":"user","content":[
				{"type":"input_image","detail":"auto","image_url":"` + pngURL + `"},
				{"type":"input_file","filename":"a.pdf","file_data":"` + pdfURL + `"},
				{"type":"input_text","text":"File \"a.txt\":\nwords"},{"type":"input_text","text":"hi"}]}]`,
		},
		{
			"files of results", openai.Lacks{},
			[]provider.Message{
				user(text("hi")), assistant(call("c1", `{"p":1}`), call("c2", `{}`)),
				results(result("c1", "a"), file("a.png", "image/png", png), file("a.pdf", "application/pdf", pdf), result("c2", "b"), file("b.txt", "", "words")),
			},
			`[` + hi + `,` + plainCall + `,{"type":"function_call","call_id":"c2","name":"look","arguments":"{}"},
			 {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"` + pngURL + `"},
			  {"type":"input_file","filename":"a.pdf","file_data":"` + pdfURL + `"}]},
			 {"type":"function_call_output","call_id":"c2","output":"b\n\nFile \"b.txt\":\nwords"}]`,
		},
		{
			"blind model", openai.Lacks{Images: true, Files: true}, []provider.Message{user(file("a.png", "image/png", png))},
			`[{"type":"message","role":"user","content":[{"type":"input_text","text":"[file \"a.png\" (image/png), 8 bytes, cannot be shown to this model]"}]}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := sentByResponses(t, openai.Options{Lacks: tt.lacks}, &provider.Request{Model: "m", Messages: tt.messages})
			require.JSONEq(t, tt.want, member(t, body, "input"))
		})
	}
}

// Numbers and the order of members are those of the item, byte for byte.
func TestReasoningIsSentAsReceived(t *testing.T) {
	body := sentByResponses(t, openai.Options{}, &provider.Request{Model: "m", Messages: []provider.Message{
		user(text("hi")), assistant(thought(reasoningItem), with(call("c1", `{"p":1}`), callItem)), results(result("c1", "seen")),
	}})
	require.Contains(t, body, reasoningItem)
}
