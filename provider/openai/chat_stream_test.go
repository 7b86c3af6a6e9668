package openai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/openai"
)

// delta is a chunk of a chat completion with that delta.
func delta(members string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{` + members + `},"logprobs":null,"finish_reason":null}],"usage":null}`
}

func reason(why string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + why + `"}]}`
}

// piece is a delta of a tool call.
func piece(members string) string { return delta(`"tool_calls":[{` + members + `}]`) }

func message(text string) part { return part{Kind: provider.ChunkMessage, Text: text} }

func toolCall(id, arguments string) part {
	return part{Kind: provider.ChunkToolCall, ID: id, Tool: "look", Text: arguments}
}

func TestChatParts(t *testing.T) {
	details := openai.Dialect{ReasoningDetails: true, ReasoningBack: openai.ReasoningToolTurns}
	back := openai.Dialect{ReasoningBack: openai.ReasoningAll}
	const first = `"index":0,"id":"c1","type":"function","function":{"name":"look","arguments":""}`
	tests := []struct {
		name    string
		dialect openai.Dialect
		events  []string
		want    []part
		finish  conversation.Finish
	}{
		{
			"text", openai.Dialect{},
			[]string{delta(`"role":"assistant","content":"","refusal":null`), delta(`"content":"Hel"`), delta(`"content":"lo"`), reason("stop")},
			[]part{message("Hello")}, conversation.FinishStop,
		},
		{"nothing", openai.Dialect{}, []string{delta(`"role":"assistant"`), reason("stop")}, nil, conversation.FinishStop},
		{"cut off", openai.Dialect{}, []string{delta(`"content":"Hel"`), reason("length")}, []part{message("Hel")}, conversation.FinishLength},
		{"cut off by another name", openai.Dialect{}, []string{delta(`"content":"Hel"`), reason("model_length")}, []part{message("Hel")}, conversation.FinishContext},
		{"the context is full", openai.Dialect{}, []string{delta(`"content":"Hel"`), reason("model_context_window_exceeded")}, []part{message("Hel")}, conversation.FinishContext},
		{"the context is full by another name", openai.Dialect{}, []string{delta(`"content":"Hel"`), reason("context_length_exceeded")}, []part{message("Hel")}, conversation.FinishContext},
		{"filtered", openai.Dialect{}, []string{delta(`"content":"Hel"`), reason("content_filter")}, []part{message("Hel")}, conversation.FinishFiltered},
		{"refused", openai.Dialect{}, []string{delta(`"refusal":"I will "`), delta(`"refusal":"not."`), reason("stop")}, []part{message("I will not.")}, conversation.FinishRefusal},
		{
			"tool call", openai.Dialect{},
			[]string{piece(first), piece(`"index":0,"function":{"arguments":"{\"p\""}`), piece(`"index":0,"function":{"arguments":":1}"}`), reason("tool_calls")},
			[]part{toolCall("c1", `{"p":1}`)}, conversation.FinishToolCalls,
		},
		{"tool call by its old name", openai.Dialect{}, []string{piece(first), reason("function_call")}, []part{toolCall("c1", `{}`)}, conversation.FinishToolCalls},
		{"tool call, but only a stop", openai.Dialect{}, []string{piece(first), reason("stop")}, []part{toolCall("c1", `{}`)}, conversation.FinishToolCalls},
		{"tool call cut off", openai.Dialect{}, []string{piece(first), piece(`"index":0,"function":{"arguments":"{\"p"}`), reason("length")}, []part{toolCall("c1", `{}`)}, conversation.FinishLength},
		{
			"interleaved tool calls", openai.Dialect{},
			[]string{
				delta(`"content":"I look."`), piece(first),
				piece(`"index":1,"id":"c2","function":{"name":"look","arguments":"{\"q\""}`),
				piece(`"index":0,"function":{"arguments":"{\"p\":"}`),
				piece(`"index":1,"function":{"arguments":":2}"}`), piece(`"index":0,"function":{"arguments":"1}"}`), reason("tool_calls"),
			},
			[]part{message("I look."), toolCall("c1", `{"p":1}`), toolCall("c2", `{"q":2}`)}, conversation.FinishToolCalls,
		},
		{
			"numbers left out", openai.Dialect{},
			[]string{
				piece(`"id":"c1","function":{"name":"look","arguments":"{"}`), piece(`"function":{"arguments":"}"}`),
				piece(`"id":"c2","function":{"name":"look","arguments":"{}"}`), reason("tool_calls"),
			},
			[]part{toolCall("c1", `{}`), toolCall("c2", `{}`)}, conversation.FinishToolCalls,
		},
		{
			"one number for all", openai.Dialect{},
			[]string{
				piece(`"index":0,"id":"c1","function":{"name":"look","arguments":"{}"}`),
				piece(`"index":0,"id":"c2","function":{"name":"look","arguments":"{}"}`), reason("tool_calls"),
			},
			[]part{toolCall("c1", `{}`), toolCall("c2", `{}`)}, conversation.FinishToolCalls,
		},
		{
			"ids left out", openai.Dialect{},
			[]string{piece(`"index":0,"function":{"name":"look","arguments":"{}"}`), piece(`"index":1,"function":{"name":"look","arguments":{"p":[1]}}`), reason("tool_calls")},
			[]part{toolCall("call_1", `{}`), toolCall("call_2", `{"p":[1]}`)}, conversation.FinishToolCalls,
		},
		{
			"blanks before a tool call", openai.Dialect{}, []string{delta(`"content":"\n\n"`), piece(first), delta(`"content":" "`), reason("tool_calls")},
			[]part{toolCall("c1", `{}`)}, conversation.FinishToolCalls,
		},
		{
			"text behind a tool call", openai.Dialect{}, []string{delta(`"content":"One"`), piece(first), delta(`"content":"two"`), reason("tool_calls")},
			[]part{message("One"), toolCall("c1", `{}`), message("two")}, conversation.FinishToolCalls,
		},
		{
			"reasoning that is only shown", openai.Dialect{}, []string{delta(`"reasoning_content":"hm"`), delta(`"content":"Hello"`), reason("stop")},
			[]part{{Kind: provider.ChunkReasoning, Text: "hm"}, message("Hello")}, conversation.FinishStop,
		},
		{
			"reasoning that goes back", back, []string{delta(`"content":null,"reasoning_content":"h"`), delta(`"reasoning_content":"<m>"`), delta(`"content":"Hello"`), reason("stop")},
			[]part{{Kind: provider.ChunkReasoning, Text: "h<m>", Item: `{"reasoning_content":"h\u003cm\u003e"}`}, message("Hello")}, conversation.FinishStop,
		},
		{
			"reasoning by its other name", back, []string{delta(`"reasoning":"hm"`), piece(first), reason("tool_calls")},
			[]part{{Kind: provider.ChunkReasoning, Text: "hm", Item: `{"reasoning":"hm"}`}, toolCall("c1", `{}`)}, conversation.FinishToolCalls,
		},
		{
			"reasoning between", back, []string{delta(`"reasoning":"a"`), delta(`"content":"A"`), delta(`"reasoning":"b"`), delta(`"content":"B"`), reason("stop")},
			[]part{
				{Kind: provider.ChunkReasoning, Text: "a", Item: `{"reasoning":"a"}`}, message("A"),
				{Kind: provider.ChunkReasoning, Text: "b", Item: `{"reasoning":"b"}`}, message("B"),
			}, conversation.FinishStop,
		},
		{
			"reasoning details", details,
			[]string{
				delta(`"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"signature":null}]`),
				delta(`"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]`),
				delta(`"content":"A"`),
				delta(`"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"s"},{"type":"reasoning.encrypted","data":"e","index":1}]`), reason("stop"),
			},
			[]part{{
				Kind: provider.ChunkReasoning, Text: "ab",
				Item: `{"reasoning":"ab","reasoning_details":[{"index":0,"signature":"s","text":"ab","type":"reasoning.text"},{"type":"reasoning.encrypted","data":"e","index":1}]}`,
			}, message("A")}, conversation.FinishStop,
		},
		{
			"two signed texts", details,
			[]string{
				delta(`"reasoning_details":[{"type":"reasoning.text","text":"a","signature":"s","index":0}]`),
				delta(`"reasoning_details":[{"type":"reasoning.text","text":"b","signature":"t","index":0},7]`), delta(`"content":"A"`), reason("stop"),
			},
			[]part{{
				Kind: provider.ChunkReasoning, Text: "ab",
				Item: `{"reasoning_content":"ab","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"s","index":0},{"type":"reasoning.text","text":"b","signature":"t","index":0},7]}`,
			}, message("A")}, conversation.FinishStop,
		},
		{
			"details last", details,
			[]string{
				delta(`"content":"A"`), piece(first), delta(`"content":"B"`),
				delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"e"}]`), reason("tool_calls"),
			},
			[]part{
				{Kind: provider.ChunkReasoning, Item: `{"reasoning_details":[{"type":"reasoning.encrypted","data":"e"}]}`},
				message("A"), toolCall("c1", `{}`), message("B"),
			}, conversation.FinishToolCalls,
		},
		{
			"details alone", details,
			[]string{delta(`"reasoning_details":[{"type":"reasoning.summary","summary":"a","index":0}]`), piece(first), reason("tool_calls")},
			[]part{{Kind: provider.ChunkReasoning, Text: "a", Item: `{"reasoning_content":"a","reasoning_details":[{"type":"reasoning.summary","summary":"a","index":0}]}`}, toolCall("c1", `{}`)},
			conversation.FinishToolCalls,
		},
		{
			"content in chunks", openai.Dialect{},
			[]string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`), delta(`"content":[{"type":"text","text":"Hello"}]`), reason("stop")},
			[]part{{Kind: provider.ChunkReasoning, Text: "hm"}, message("Hello")}, conversation.FinishStop,
		},
		{
			"extra content", openai.Dialect{ExtraContent: true},
			[]string{delta(`"content":"A","extra_content":{"google":{"thought_signature":"t"}}`), piece(first + `,"extra_content":{"google":{"thought_signature":"u"}}`), reason("tool_calls")},
			[]part{
				{Kind: provider.ChunkMessage, Text: "A", Item: `{"extra_content":{"google":{"thought_signature":"t"}}}`},
				{Kind: provider.ChunkToolCall, ID: "c1", Tool: "look", Text: `{}`, Item: `{"extra_content":{"google":{"thought_signature":"u"}}}`},
			}, conversation.FinishToolCalls,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, end := range []string{events("[DONE]"), "data: [DONE]", ""} {
				s := serve(t, writing(events(tt.events...)+end))
				chunks, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{Dialect: tt.dialect})), &provider.Request{Model: "m"})
				require.NoError(t, err)
				parts, last := assembled(t, chunks)
				require.Equal(t, tt.want, parts)
				require.Equal(t, provider.Chunk{Kind: provider.ChunkFinish, Finish: tt.finish}, last)
			}
		})
	}
}

func TestStructuredAnswers(t *testing.T) {
	tests := []struct {
		text string
		want provider.ChunkKind
	}{
		{`{"ok":true}`, provider.ChunkData},
		{` [1]`, provider.ChunkData},
		{`I cannot say.`, provider.ChunkMessage},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			written, err := json.Marshal(tt.text)
			require.NoError(t, err)
			request := &provider.Request{Model: "m", Schema: json.RawMessage(`{"type":"object"}`)}
			s := serve(t, writing(events(delta(fmt.Sprintf(`"content":%s`, written)), chatStop)))
			chunks, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{})), request)
			require.NoError(t, err)
			parts, _ := assembled(t, chunks)
			require.Equal(t, []part{{Kind: tt.want, Text: tt.text}}, parts)

			item := fmt.Sprintf(`{"type":"message","id":"msg_1","content":[{"type":"output_text","text":%s}]}`, written)
			s = serve(t, writing(events(`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`, responsesStop)))
			chunks, err = ask(t.Context(), openai.NewResponses(s.options(openai.Options{})), request)
			require.NoError(t, err)
			parts, _ = assembled(t, chunks)
			require.Equal(t, []part{{Kind: tt.want, Text: tt.text, Item: item}}, parts)
		})
	}
}

func TestChatUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        conversation.Usage
	}{
		{
			"OpenAI", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8}}`,
			conversation.Usage{Input: 10, Output: 5, CacheRead: 8},
		},
		{
			"OpenRouter", `{"prompt_tokens":10,"completion_tokens":5,"cost":1.25e-05,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":4}}`,
			conversation.Usage{Input: 10, Output: 5, CacheWrite: 4, CostUSD: "0.0000125"},
		},
		{"DeepSeek", `{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":6}`, conversation.Usage{Input: 10, Output: 5, CacheRead: 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, writing(events(chatStop, `{"choices":[],"usage":`+tt.usage+`}`, "[DONE]")))
			chunks, err := ask(t.Context(), openai.NewChat(s.options(openai.Options{})), &provider.Request{Model: "m"})
			require.NoError(t, err)
			require.Equal(t, provider.Chunk{Kind: provider.ChunkFinish, Finish: conversation.FinishStop, Usage: &tt.want}, chunks[len(chunks)-1])
		})
	}
}
