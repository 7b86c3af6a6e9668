package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
	"jp/provider/openai"
)

// A call that a server reports twice in one answer, in any form, is one call.
func TestACallReportedTwiceIsOneCall(t *testing.T) {
	const other = `{"id":"fc_2","type":"function_call","status":"completed","call_id":"c1","name":"look","arguments":"{\"p\": 2}"}`
	const first, second = `"id":"c1","type":"function","function":{"name":"look","arguments":"{\"p\":1}"}`, `"id":"c1","type":"function","function":{"name":"look","arguments":"{\"p\":2}"}`
	whole := func(items string) string {
		return `{"type":"response.completed","response":{"status":"completed","output":[` + items + `]}}`
	}
	one, two := []string{`{"p":1}`}, []string{`{"p":1}`, `{"p":2}`}
	for name, tc := range map[string]struct {
		events []string
		chat   bool
		want   []string
	}{
		"Responses, the item ends twice":            {events: []string{done("0", callItem), done("0", callItem), completed()}, want: one},
		"Responses, under another index":            {events: []string{done("0", callItem), done("1", callItem), completed()}, want: one},
		"Responses, again at the end":               {events: []string{done("0", callItem), whole(callItem)}, want: one},
		"Responses, at the end under another index": {events: []string{done("1", callItem), whole(callItem)}, want: one},
		"Responses, only at the end":                {events: []string{whole(callItem + "," + callItem)}, want: one},
		"Responses, the same id for another call":   {events: []string{done("0", callItem), done("1", other), completed()}, want: two},
		"Chat, under another index":                 {chat: true, events: []string{piece(`"index":0,` + first), piece(`"index":1,` + first), reason("tool_calls")}, want: one},
		"Chat, in one delta":                        {chat: true, events: []string{delta(`"tool_calls":[{"index":0,` + first + `},{"index":1,` + first + `}]`), reason("tool_calls")}, want: one},
		"Chat, the same id for another call":        {chat: true, events: []string{piece(`"index":0,` + first), piece(`"index":1,` + second), reason("tool_calls")}, want: two},
		"Chat, without ids":                         {chat: true, events: []string{piece(`"index":0,"function":{"name":"look","arguments":"{\"p\":1}"}`), piece(`"index":1,"function":{"name":"look","arguments":"{\"p\":1}"}`), reason("tool_calls")}, want: []string{`{"p":1}`, `{"p":1}`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, writing(events(tc.events...)))
			var p provider.Provider = openai.NewResponses(s.options(openai.Options{}))
			if tc.chat {
				p = openai.NewChat(s.options(openai.Options{}))
			}
			chunks, err := ask(t.Context(), p, &provider.Request{Model: "m"})
			require.NoError(t, err)
			parts, _ := assembled(t, chunks)
			var got []string
			for _, p := range parts {
				got = append(got, p.Text)
			}
			require.Equal(t, tc.want, got)
		})
	}
}
