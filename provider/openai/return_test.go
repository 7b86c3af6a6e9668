package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/openai"
)

// answered is a dialogue in which a model gave these parts, kept and taken out
// again as events keep them.
func answered(t *testing.T, parts []part) []provider.Message {
	t.Helper()
	kinds := map[provider.ChunkKind]provider.BlockKind{
		provider.ChunkMessage: provider.BlockText, provider.ChunkReasoning: provider.BlockReasoning, provider.ChunkToolCall: provider.BlockToolCall,
	}
	var answer, seen []provider.Block
	for _, p := range parts {
		var kept struct{ Item json.RawMessage }
		if p.Item != "" {
			require.NoError(t, json.Unmarshal(provider.Target{}.State(json.RawMessage(p.Item)), &kept))
		}
		b := provider.Block{Kind: kinds[p.Kind], Text: p.Text, Item: kept.Item}
		if p.Kind == provider.ChunkToolCall {
			b.Text, b.ID, b.Name, b.Arguments = "", p.ID, p.Tool, json.RawMessage(p.Text)
			seen = append(seen, result(p.ID, "seen"))
		}
		answer = append(answer, b)
	}
	return []provider.Message{user(text("hi")), assistant(answer...), results(seen...)}
}

// A model's answer goes back to it as it was, in any form of streaming.
func TestAnswersGoBack(t *testing.T) {
	const comment = `{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"<Grüße> ","annotations":[]},{"type":"output_text","text":"👋"}]}`
	stream := events(
		added("0", `{"id":"rs_1","type":"reasoning","summary":[]}`), summary("0", "0", `"hm"`), done("0", reasoningItem),
		more("output_text", "1", `"<Grüße> "`), more("output_text", "1", `"👋"`), done("1", comment),
		done("2", `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"look","arguments":"{ \"p\" : 1.0 }"}`), completed())
	chunks, err := ask(t.Context(), openai.NewResponses(over(bodies(stream))), &provider.Request{Model: "m"})
	require.NoError(t, err)
	parts, _ := assembled(t, chunks)
	body := openai.ResponsesBody(&provider.Request{Model: "m", Messages: answered(t, parts)}, openai.Options{})
	require.JSONEq(t, `[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},`+reasoningItem+`,`+comment+`,
		{"id":"fc_1","type":"function_call","call_id":"c1","name":"look","arguments":"{ \"p\" : 1.0 }"},
		{"type":"function_call_output","call_id":"c1","output":"seen"}]`, member(t, string(body), "input"))
}

func TestChatAnswersGoBack(t *testing.T) {
	const looked = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"p\":1}"}}]`
	called := []string{piece(`"index":0,"id":"c1","function":{"name":"look","arguments":"{\"p\":1}"}`), reason("tool_calls")}
	signed := piece(`"index":0,"id":"c1","function":{"name":"look","arguments":"{\"p\":1}"},"extra_content":{"google":{"thought_signature":"<s>"}}`)
	tests := []struct {
		dialect string
		events  []string
		want    string
	}{
		{"deepseek", append([]string{delta(`"reasoning_content":"h<m>\n"`)}, called...), `{"role":"assistant","content":"","reasoning_content":"h<m>\n",` + looked + `}`},
		{"ollama", append([]string{delta(`"reasoning":"hm"`)}, called...), `{"role":"assistant","content":null,"reasoning":"hm",` + looked + `}`},
		{
			"openrouter", append([]string{delta(`"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"<s>"}]`)}, called...),
			`{"role":"assistant","content":null,"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"<s>"}],` + looked + `}`,
		},
		{
			"gemini", []string{signed, reason("tool_calls")},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"p\":1}"},"extra_content":{"google":{"thought_signature":"<s>"}}}]}`,
		},
		{"openai", append([]string{delta(`"content":"I look."`)}, called...), `{"role":"assistant","content":"I look.",` + looked + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.dialect, func(t *testing.T) {
			o := over(bodies(events(tt.events...)))
			o.Dialect, _ = openai.DialectNamed(tt.dialect)
			chunks, err := ask(t.Context(), openai.NewChat(o), &provider.Request{Model: "m"})
			require.NoError(t, err)
			parts, last := assembled(t, chunks)
			require.Equal(t, conversation.FinishToolCalls, last.Finish)
			body := openai.ChatBody(&provider.Request{Model: "m", Messages: answered(t, parts)}, o)
			var messages []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(member(t, string(body), "messages")), &messages))
			require.JSONEq(t, tt.want, string(messages[1]))
		})
	}
}
