package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/openai"
)

// Events of a response.
func added(index, item string) string {
	return `{"type":"response.output_item.added","output_index":` + index + `,"item":` + item + `,"sequence_number":1}`
}

func done(index, item string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + item + `,"sequence_number":2}`
}

func more(kind, index, text string) string {
	return `{"type":"response.` + kind + `.delta","output_index":` + index + `,"content_index":0,"item_id":"x","delta":` + text + `}`
}

func summary(index, at, text string) string {
	return `{"type":"response.reasoning_summary_text.delta","output_index":` + index + `,"summary_index":` + at + `,"delta":` + text + `}`
}

const usageOfResponse = `"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":12},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":27}`

func completed() string {
	return `{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[],` + usageOfResponse + `}}`
}

func incomplete(why string) string {
	return `{"type":"response.incomplete","response":{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"` + why + `"},"output":[],` + usageOfResponse + `}}`
}

func TestResponsesParts(t *testing.T) {
	const answer = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"Hello","annotations":[]}]}`
	const refusal = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`
	const halfCall = `{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"c1","name":"look","arguments":""}`
	const halfThought = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"half"}`
	const halfMessage = `{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}`
	begun := []string{`{"type":"response.created","response":{"id":"resp_1","status":"in_progress","output":[]}}`, `{"type":"response.in_progress","response":{}}`}
	said := part{Kind: provider.ChunkMessage, Text: "Hello", Item: answer}
	called := part{Kind: provider.ChunkToolCall, ID: "c1", Tool: "look", Text: `{"p":1}`, Item: callItem}
	tests := []struct {
		name   string
		events []string
		want   []part
		finish conversation.Finish
	}{
		{
			"text", []string{added("0", halfMessage), more("output_text", "0", `"Hel"`), more("output_text", "0", `"lo"`), done("0", answer), completed()},
			[]part{said}, conversation.FinishStop,
		},
		{
			"everything", []string{
				added("0", halfThought), summary("0", "0", `"one"`), summary("0", "1", `"two"`), done("0", reasoningItem),
				added("1", halfMessage), more("output_text", "1", `"Hello"`), done("1", answer),
				added("2", halfCall), more("function_call_arguments", "2", `"{\"p\":"`), more("function_call_arguments", "2", `" 1}"`), done("2", callItem), completed(),
			},
			[]part{{Kind: provider.ChunkReasoning, Text: "one\n\ntwo", Item: reasoningItem}, said, called}, conversation.FinishToolCalls,
		},
		{"reasoning whose summary comes whole", []string{added("0", halfThought), done("0", reasoningItem), done("1", answer), completed()}, []part{{Kind: provider.ChunkReasoning, Text: "thinking", Item: reasoningItem}, said}, conversation.FinishStop},
		{
			"reasoning in full", []string{added("0", halfThought), more("reasoning_text", "0", `"hm"`), done("0", reasoningItem), done("1", answer), completed()},
			[]part{{Kind: provider.ChunkReasoning, Text: "hm", Item: reasoningItem}, said}, conversation.FinishStop,
		},
		{"no pieces", []string{done("0", answer), done("1", callItem), completed()}, []part{said, called}, conversation.FinishToolCalls},
		{"pieces without a beginning", []string{more("output_text", "0", `"Hel"`), done("0", answer), completed()}, []part{said}, conversation.FinishStop},
		{"other text than the pieces", []string{more("output_text", "0", `"Bye"`), done("0", answer), completed()}, []part{{Kind: provider.ChunkMessage, Text: "Bye", Item: answer}}, conversation.FinishStop},
		{"blanks first", []string{more("output_text", "0", `" "`), more("output_text", "0", `"Hello"`), done("0", answer), completed()}, []part{{Kind: provider.ChunkMessage, Text: " Hello", Item: answer}}, conversation.FinishStop},
		{
			"items only at the end", []string{`{"type":"response.completed","response":{"status":"completed","output":[` + answer + `,` + callItem + `]}}`},
			[]part{said, called}, conversation.FinishToolCalls,
		},
		{"an item that never ends", []string{added("0", halfMessage), more("output_text", "0", `"Hello"`), incomplete("max_output_tokens")}, []part{message("Hello")}, conversation.FinishLength},
		{"the context is full", []string{done("0", answer), incomplete("model_context_window_exceeded")}, []part{said}, conversation.FinishContext},
		{"filtered", []string{done("0", answer), incomplete("content_filter")}, []part{said}, conversation.FinishFiltered},
		{"refused", []string{added("0", halfMessage), more("refusal", "0", `"No."`), done("0", refusal), completed()}, []part{{Kind: provider.ChunkMessage, Text: "No.", Item: refusal}}, conversation.FinishRefusal},
		{"refused at once", []string{done("0", refusal), completed()}, []part{{Kind: provider.ChunkMessage, Text: "No.", Item: refusal}}, conversation.FinishRefusal},
		{
			"unknown events and items", []string{
				`{"type":"response.dreaming.delta","delta":{"of":"sheep"}}`, `{"type":"keepalive"}`, `{}`,
				added("0", `{"type":"web_search_call","id":"ws_1"}`), done("0", `{"type":"web_search_call","id":"ws_1"}`), done("1", answer), completed(),
			},
			[]part{said}, conversation.FinishStop,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, writing(events(append(begun, tt.events...)...)))
			chunks, err := ask(t.Context(), openai.NewResponses(s.options(openai.Options{})), &provider.Request{Model: "m"})
			require.NoError(t, err)
			parts, last := assembled(t, chunks)
			require.Equal(t, tt.want, parts)
			require.Equal(t, tt.finish, last.Finish)
			if last.Usage != nil {
				require.Equal(t, &conversation.Usage{Input: 20, Output: 7, CacheRead: 12}, last.Usage)
			}
		})
	}
}

// jp does not wait for data behind the end.
func TestResponsesEndsWithItsLastEvent(t *testing.T) {
	s := serve(t, hanging(events(completed())))
	chunks, err := ask(t.Context(), openai.NewResponses(s.options(openai.Options{})), &provider.Request{Model: "m"})
	require.NoError(t, err)
	require.Equal(t, conversation.FinishStop, chunks[len(chunks)-1].Finish)
}

// Commentary stays text, even if it looks like a structured answer.
func TestCommentaryIsNoAnswer(t *testing.T) {
	const comment = `{"id":"msg_1","type":"message","phase":"commentary","content":[{"type":"output_text","text":"[1] is next"}]}`
	s := serve(t, writing(events(done("0", comment), completed())))
	chunks, err := ask(t.Context(), openai.NewResponses(s.options(openai.Options{})), &provider.Request{Model: "m", Schema: []byte(`{}`)})
	require.NoError(t, err)
	parts, _ := assembled(t, chunks)
	require.Equal(t, []part{{Kind: provider.ChunkMessage, Text: "[1] is next", Item: comment}}, parts)
}

// TestStatedCosts reads the cost that OpenRouter states at the end of an answer. A stated 0 is a cost.
func TestStatedCosts(t *testing.T) {
	for field, want := range map[string]string{"": "", `,"cost":0`: "0", `,"cost":0.0`: "0", `,"cost":1.25e-05`: "0.0000125", `,"cost":null`: "", `,"cost":-1`: ""} {
		end := `{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":20,"output_tokens":7` + field + `}}}`
		s := serve(t, writing(events(end)))
		chunks, err := ask(t.Context(), openai.NewResponses(s.options(openai.Options{})), &provider.Request{Model: "m"})
		require.NoError(t, err)
		require.Equal(t, &conversation.Usage{Input: 20, Output: 7, CostUSD: want}, chunks[len(chunks)-1].Usage, field)
		s = serve(t, writing(events(chatStop, `{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":7`+field+`}}`, "[DONE]")))
		chunks, err = ask(t.Context(), openai.NewChat(s.options(openai.Options{})), &provider.Request{Model: "m"})
		require.NoError(t, err)
		require.Equal(t, &conversation.Usage{Input: 20, Output: 7, CostUSD: want}, chunks[len(chunks)-1].Usage, field)
	}
}
