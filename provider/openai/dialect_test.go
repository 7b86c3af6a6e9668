package openai_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/provider"
	"jp/provider/openai"
)

func TestDialectMessages(t *testing.T) {
	looked := []provider.Message{user(text("hi")), assistant(call("c1", `{}`)), results(result("c1", "seen"), file("a.png", "image/png", png)), user(text("more"))}
	thinking := []provider.Message{
		user(text("a")), assistant(thought(`{"reasoning_content":"one"}`), text("A")),
		user(text("b")), assistant(thought(`{"reasoning":"two"}`), call("c1", `{}`)), results(result("c1", "seen")), assistant(thought(`{"reasoning":"three"}`), text("B")),
		user(text("c")), assistant(text("C")), user(text("d")),
	}
	const hi = `{"role":"user","content":"hi"}`
	const calls = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]`
	const called = `{"role":"assistant","content":null,` + calls + `}`
	const picture = `{"type":"text","text":"Image from look, result of c1:"},{"type":"image_url","image_url":{"url":"` + pngURL + `"}}`
	const seen = `{"role":"tool","tool_call_id":"c1","content":"seen"}`
	tests := []struct {
		name     string
		dialect  openai.Dialect
		messages []provider.Message
		want     string
	}{
		{
			"user's messages are one", openai.Dialect{}, looked,
			`[` + hi + `,` + called + `,` + seen + `,{"role":"user","content":[` + picture + `,{"type":"text","text":"more"}]}]`,
		},
		{
			"user is folded into the result", openai.Dialect{UserAfterTool: openai.UserFolded}, looked,
			`[` + hi + `,` + called + `,{"role":"tool","tool_call_id":"c1","content":"seen\n\nImage from look, result of c1:\n\n[file \"a.png\" (image/png), 8 bytes, cannot be shown to this model]\n\nmore"}]`,
		},
		{
			"results hold pictures", openai.Dialect{ImagesInTool: true}, looked,
			`[` + hi + `,` + called + `,{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"seen"},{"type":"image_url","image_url":{"url":"` + pngURL + `"}}]},{"role":"user","content":"more"}]`,
		},
		{
			"calls without a text have an empty one", openai.Dialect{EmptyContent: true}, []provider.Message{user(text("hi")), assistant(call("c1", `{}`)), results(result("c1", "seen"))},
			`[` + hi + `,{"role":"assistant","content":"",` + calls + `},` + seen + `]`,
		},
		{
			"no pictures", openai.Dialect{NoImages: true}, looked,
			`[` + hi + `,` + called + `,{"role":"tool","tool_call_id":"c1","content":"seen\n\n[file \"a.png\" (image/png), 8 bytes, cannot be shown to this model]"},{"role":"user","content":"more"}]`,
		},
		{
			"no files", openai.Dialect{NoFiles: true}, []provider.Message{user(file("a.pdf", "application/pdf", pdf))},
			`[{"role":"user","content":"[file \"a.pdf\" (application/pdf), 10 bytes, cannot be shown to this model]"}]`,
		},
		{
			"results name their tool", openai.Dialect{ToolNameField: "tool_name"}, looked[:3],
			`[` + hi + `,` + called + `,{"role":"tool","tool_call_id":"c1","tool_name":"look","content":"seen"},{"role":"user","content":[` + picture + `]}]`,
		},
		{
			"reasoning of tool turns", openai.Dialect{ReasoningBack: openai.ReasoningToolTurns}, thinking,
			`[{"role":"user","content":"a"},{"role":"assistant","content":"A"},
			  {"role":"user","content":"b"},{"role":"assistant","content":null,"reasoning":"two",` + calls + `},` + seen + `,{"role":"assistant","content":"B","reasoning":"three"},
			  {"role":"user","content":"c"},{"role":"assistant","content":"C"},{"role":"user","content":"d"}]`,
		},
		{
			"all reasoning", openai.Dialect{ReasoningBack: openai.ReasoningAll}, thinking,
			`[{"role":"user","content":"a"},{"role":"assistant","content":"A","reasoning_content":"one"},
			  {"role":"user","content":"b"},{"role":"assistant","content":null,"reasoning_content":"two",` + calls + `},` + seen + `,{"role":"assistant","content":"B","reasoning_content":"three"},
			  {"role":"user","content":"c"},{"role":"assistant","content":"C","reasoning_content":" "},{"role":"user","content":"d"}]`,
		},
		{
			"reasoning under another name", openai.Dialect{ReasoningBack: openai.ReasoningAll, ReasoningField: "thoughts"},
			[]provider.Message{user(text("hi")), assistant(text("A")), user(text("more"))},
			`[` + hi + `,{"role":"assistant","content":"A","thoughts":" "},{"role":"user","content":"more"}]`,
		},
		{
			"reasoning details", openai.Dialect{ReasoningDetails: true, ReasoningBack: openai.ReasoningToolTurns},
			[]provider.Message{user(text("hi")), assistant(thought(`{"reasoning":"x","reasoning_details":[{"type":"reasoning.encrypted","data":"e"}]}`), text("A")), user(text("more"))},
			`[` + hi + `,{"role":"assistant","content":"A","reasoning_details":[{"type":"reasoning.encrypted","data":"e"}]},{"role":"user","content":"more"}]`,
		},
		{
			"extra content", openai.Dialect{ExtraContent: true},
			[]provider.Message{user(text("hi")), assistant(with(text("A"), `{"extra_content":{"google":1}}`), with(call("c1", `{}`), `{"extra_content":{"google":2}}`)), results(result("c1", "seen"))},
			`[` + hi + `,{"role":"assistant","content":"A","extra_content":{"google":1},"tool_calls":[{"id":"c1","type":"function","extra_content":{"google":2},"function":{"name":"look","arguments":"{}"}}]},` + seen + `]`,
		},
		{
			"extra content of another dialect", openai.Dialect{},
			[]provider.Message{user(text("hi")), assistant(with(call("c1", `{}`), `{"extra_content":{"google":2}}`)), results(result("c1", "seen"))},
			`[` + hi + `,` + called + `,` + seen + `]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := sentByChat(t, openai.Options{Dialect: tt.dialect}, &provider.Request{Model: "m", Messages: tt.messages})
			require.JSONEq(t, tt.want, member(t, body, "messages"))
		})
	}
}

func TestSystemRole(t *testing.T) {
	for role, want := range map[string]string{"": "system", "developer": "developer"} {
		request := &provider.Request{Model: "m", System: "Be brief.", Messages: []provider.Message{user(text("hi"))}}
		body := sentByChat(t, openai.Options{Dialect: openai.Dialect{SystemRole: role}}, request)
		require.JSONEq(t, `[{"role":"`+want+`","content":"Be brief."},{"role":"user","content":"hi"}]`, member(t, body, "messages"))
	}
}

// Ids have the server's form, differ as the given ones do, and stay the same when more messages follow. Ids
// from the server itself are kept.
func TestFormedIDs(t *testing.T) {
	ids := func(t require.TestingT, o openai.Options, messages []provider.Message) (calls, answers []string) {
		body := openai.ChatBody(&provider.Request{Model: "m", Messages: messages}, o)
		var sent struct {
			Messages []struct {
				ToolCallID string `json:"tool_call_id"`
				ToolCalls  []struct {
					ID string `json:"id"`
				} `json:"tool_calls"`
			} `json:"messages"`
		}
		require.NoError(t, json.Unmarshal(body, &sent))
		for _, m := range sent.Messages {
			for _, c := range m.ToolCalls {
				calls = append(calls, c.ID)
			}
			if m.ToolCallID != "" {
				answers = append(answers, m.ToolCallID)
			}
		}
		return calls, answers
	}
	forms := map[openai.IDForm]*regexp.Regexp{
		openai.AlnumIDs: regexp.MustCompile(`^[A-Za-z0-9]{9}$`), openai.NumberedIDs: regexp.MustCompile(`^functions\.look:[0-9]+$`),
	}
	for form, pattern := range forms {
		rapid.Check(t, func(t *rapid.T) {
			given := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z0-9_-]{1,12}|[a-z0-9]{9}|functions\.look:[0-3]`), 1, 8, rapid.ID).Draw(t, "ids")
			messages := []provider.Message{user(text("hi"))}
			theirs := map[int]bool{}
			for i, id := range given {
				c := call(id, `{}`)
				c.Given = rapid.Bool().Draw(t, "by the server")
				theirs[i] = c.Given
				messages = append(messages, assistant(c), results(result(id, "seen")))
			}
			o := openai.Options{Dialect: openai.Dialect{IDs: form}}
			calls, answers := ids(t, o, messages)
			require.Equal(t, calls, answers)
			require.Len(t, calls, len(given))
			seen := map[string]bool{}
			for i, id := range calls {
				if theirs[i] && !seen[given[i]] || i == 0 && pattern.MatchString(given[0]) {
					require.Equal(t, given[i], id)
				} else {
					require.Regexp(t, pattern, id)
				}
				require.False(t, seen[id])
				seen[id] = true
			}
			before, _ := ids(t, o, messages[:len(messages)-2])
			require.Equal(t, calls[:len(calls)-1], append([]string{}, before...))
		})
	}
}

func TestKnownDialects(t *testing.T) {
	for _, name := range []string{"openai", "openrouter", "ollama", "llamacpp", "vllm", "mistral", "deepseek", "gemini"} {
		d, known := openai.DialectNamed(name)
		require.True(t, known, name)
		require.Equal(t, name, openai.Options{Dialect: d}.Name())
		require.Regexp(t, `^https?://[^/]+/.*v1`, openai.Options{Dialect: d}.Endpoint())
	}
	_, known := openai.DialectNamed("other")
	require.False(t, known)
	zero, _ := openai.DialectNamed("openai")
	require.Equal(t, openai.Dialect{Name: "openai"}, zero)
}

func TestAccountAndEndpointGiveNothingAway(t *testing.T) {
	o := openai.Options{Key: "sk-secret", BaseURL: "https://me:password@example.com/v1/?token=t"}
	require.Equal(t, "https://example.com/v1", o.Endpoint())
	require.Regexp(t, `^[0-9a-f]{8}$`, o.Account())
	require.Equal(t, o.Account(), openai.Options{Key: "sk-secret"}.Account())
	require.NotEqual(t, o.Account(), openai.Options{Key: "sk-other"}.Account())
	require.Empty(t, openai.Options{}.Account())
}
