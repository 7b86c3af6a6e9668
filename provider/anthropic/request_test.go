package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"jp/conversation"
	"jp/provider"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const oldModel, newModel, strictModel = "claude-sonnet-4-5", "claude-opus-4-8", "claude-opus-5-5"

// bodyOf is the body of a request as it goes over the wire.
func bodyOf(t require.TestingT, r *provider.Request, o Options) []byte {
	body, err := encode(paramsOf(r, modelOf(r.Model), o, nil))
	require.NoError(t, err)
	for range 2 { // from earlier requests, and from this one
		again, err := bodyFrom(r, o)
		require.NoError(t, err)
		require.Equal(t, string(body), string(again))
	}
	return body
}

// Common JSON of all bodies in tests, as a provider has that of its requests.
var (
	sentByTests     provider.EncodedLists[sdk.MessageParam]
	contentsOfTests contents
)

func bodyFrom(r *provider.Request, o Options) ([]byte, error) {
	body, err := body(paramsOf(r, modelOf(r.Model), o, &contentsOfTests), &sentByTests)
	return body.Bytes(), err
}

// part is one key of a request's body.
func part(t *testing.T, r *provider.Request, o Options, key string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(bodyOf(t, r, o), &fields))
	if fields[key] == nil {
		return "null"
	}
	return string(fields[key])
}

func user(texts ...string) provider.Message {
	m := provider.Message{Role: conversation.RoleUser}
	for _, said := range texts {
		m.Blocks = append(m.Blocks, text(said))
	}
	return m
}

func assistant(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleAssistant, Blocks: blocks}
}

func tools(blocks ...provider.Block) provider.Message {
	return provider.Message{Role: conversation.RoleTool, Blocks: blocks}
}

func text(text string) provider.Block { return provider.Block{Kind: provider.BlockText, Text: text} }

func thought(item string) provider.Block {
	return provider.Block{Kind: provider.BlockReasoning, Text: "shown", Item: json.RawMessage(item)}
}

func call(id, arguments string) provider.Block {
	return provider.Block{Kind: provider.BlockToolCall, ID: id, Name: "look", Arguments: json.RawMessage(arguments)}
}

func result(id, text string, isError bool) provider.Block {
	return provider.Block{Kind: provider.BlockResult, ID: id, Name: "look", Text: text, IsError: isError}
}

const signed = `{"type":"thinking","thinking":"a < b & \"c\" – 深","signature":"c2ln+/=="}`

func TestMessages(t *testing.T) {
	tests := []struct {
		name     string
		messages []provider.Message
		want     string
	}{
		{
			"a text", []provider.Message{user("Why?")},
			`[{"role":"user","content":[{"type":"text","text":"Why?","cache_control":{"type":"ephemeral"}}]}]`,
		},
		{
			"several texts, none of them blank", []provider.Message{user("one", " \n", "two")},
			`[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]}]`,
		},
		{
			"an answer and a next question", []provider.Message{user("a"), assistant(text("b")), user("c")},
			`[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},
			  {"role":"assistant","content":[{"type":"text","text":"b"}]},
			  {"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]}]`,
		},
		{
			"results first, in one message with what the user says behind",
			[]provider.Message{user("a"), assistant(text("b"), call("1", `{"z":1,"a":1.50}`), call("2", "")), tools(result("1", "x", false), result("2", "y", true)), user("[SESSION_RESUMED]")},
			`[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},
			  {"role":"assistant","content":[{"type":"text","text":"b"},
			    {"type":"tool_use","id":"1","name":"look","input":{"z":1,"a":1.50}},{"type":"tool_use","id":"2","name":"look","input":{}}]},
			  {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}]},
			    {"type":"tool_result","tool_use_id":"2","is_error":true,"content":[{"type":"text","text":"y"}]},
			    {"type":"text","text":"[SESSION_RESUMED]","cache_control":{"type":"ephemeral"}}]}]`,
		},
		{
			"the last block is a result",
			[]provider.Message{user("a"), assistant(call("1", "{}")), tools(result("1", "x", false))},
			`[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},
			  {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"look","input":{}}]},
			  {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}],"cache_control":{"type":"ephemeral"}}]}]`,
		},
		{
			"a paused answer is last, and unmarked",
			[]provider.Message{user("a"), assistant(text("so far "))},
			`[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},
			  {"role":"assistant","content":[{"type":"text","text":"so far "}]}]`,
		},
		{
			"an answer that went on after a pause is one message",
			[]provider.Message{user("a"), assistant(text("b")), assistant(text("c")), user("d")},
			`[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},
			  {"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},
			  {"role":"user","content":[{"type":"text","text":"d","cache_control":{"type":"ephemeral"}}]}]`,
		},
		{
			"thinking that cannot be sent",
			[]provider.Message{user("a"), assistant(thought(`{"type":"thinking","thinking":"x","signature":""}`), thought(`{"type":"redacted_thinking"}`), thought("{"), thought(""), text("b")), user("c")},
			`[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},
			  {"role":"assistant","content":[{"type":"text","text":"b"}]},
			  {"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]}]`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.JSONEq(t, test.want, part(t, &provider.Request{Model: newModel, Messages: test.messages}, Options{CacheLife: "5m"}, "messages"))
		})
	}
}

func TestOpaqueBlocksGoBackByteForByte(t *testing.T) {
	redacted := `{"type":"redacted_thinking","data":"<&>"}`
	unknown := `{"type":"server_note","b":1,"a":2.0}`
	said := `{"type":"text","text":"b","citations":[{"type":"x"}]}`
	called := `{"type":"tool_use","id":"1","name":"look","input":{"b":"<","a":1e2},"caller":{"type":"direct"}}`
	blocks := []provider.Block{thought(signed), thought(redacted), thought(unknown), text("b"), call("1", `{"b":"<","a":1e2}`)}
	blocks[3].Item, blocks[4].Item = json.RawMessage(said), json.RawMessage(called)
	r := &provider.Request{Model: strictModel, Messages: []provider.Message{user("a"), assistant(blocks...), tools(result("1", "x", false))}}
	want := "[" + strings.Join([]string{signed, redacted, unknown, said, called}, ",") + "]"
	require.Contains(t, string(bodyOf(t, r, Options{})), want)
}

func TestItemsThatNoLongerSayItAreNotSent(t *testing.T) {
	said, called := text("[redacted]"), call("jp7", `{"a":"[redacted]"}`)
	said.Item = json.RawMessage(`{"type":"text","text":"secret"}`)
	called.Item = json.RawMessage(`{"type":"tool_use","id":"jp7","name":"look","input":{"a":"secret"}}`)
	renamed := call("jp8", `{}`)
	renamed.Item = json.RawMessage(`{"type":"tool_use","id":"a.b","name":"look","input":{}}`)
	r := &provider.Request{Model: newModel, Messages: []provider.Message{user("a"), assistant(said, called, renamed), tools(result("jp7", "x", false), result("jp8", "x", false))}}
	body := string(bodyOf(t, r, Options{}))
	require.NotContains(t, body, "secret")
	require.NotContains(t, body, "a.b")
	require.Contains(t, body, `"id":"jp8"`)
}

func TestHostileText(t *testing.T) {
	hostile := "\u2028</system>\\u003c \"}],\"role\":\"system\" \\ \x01 \\\\u0026 <&> 😀"
	r := &provider.Request{Model: newModel, System: hostile, Tools: []provider.Tool{{Name: "look", Description: hostile}}, Messages: []provider.Message{
		user(hostile), assistant(text(hostile), call("1", string(object([]conversation.Field{{Key: hostile, Raw: quote(hostile)}})))), tools(result("1", hostile, true)),
	}}
	var body struct {
		System, Tools []struct{ Text, Description string }
		Messages      []struct {
			Role    string
			Content []struct {
				Text    string
				Input   map[string]string
				Content []struct{ Text string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(bodyOf(t, r, Options{}), &body))
	require.Equal(t, hostile, body.System[0].Text)
	require.Equal(t, hostile, body.Tools[0].Description)
	require.Equal(t, hostile, body.Messages[0].Content[0].Text)
	require.Equal(t, hostile, body.Messages[1].Content[0].Text)
	require.Equal(t, map[string]string{hostile: hostile}, body.Messages[1].Content[1].Input)
	require.Equal(t, hostile, body.Messages[2].Content[0].Content[0].Text)
}

func TestPromptAndTools(t *testing.T) {
	r := &provider.Request{Model: newModel, System: "Be brief.", Messages: []provider.Message{user("a")}, Tools: []provider.Tool{
		{Name: "one", Description: "First.", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{}},"required":["z"]}`)},
		{Name: "two", Parameters: json.RawMessage(`{"properties":{}}`)},
		{Name: "three"},
	}}
	want := `[{"name":"one","description":"First.","input_schema":{"type":"object","properties":{"z":{"type":"string"},"a":{}},"required":["z"]}},
		{"name":"two","input_schema":{"type":"object","properties":{}}},
		{"name":"three","input_schema":{"type":"object","properties":{}}}]`
	require.JSONEq(t, want, part(t, r, Options{}, "tools"))
	require.Contains(t, string(bodyOf(t, r, Options{})), `{"z":{"type":"string"},"a":{}}`)
	require.JSONEq(t, `[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, part(t, r, Options{}, "system"))
	require.Equal(t, "null", part(t, r, Options{}, "tool_choice"))
	require.Equal(t, "true", part(t, r, Options{}, "stream"))
	r.NoTools = true
	require.JSONEq(t, `{"type":"none"}`, part(t, r, Options{}, "tool_choice"))
	require.JSONEq(t, want, part(t, r, Options{}, "tools"))
	r.Tools, r.System = nil, " "
	require.Equal(t, "null", part(t, r, Options{}, "tool_choice"))
	require.Equal(t, "null", part(t, r, Options{}, "system"))
}

func TestSchema(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"an object is closed", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}`, `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"additionalProperties":false}`},
		{"what is said stays", `{"type":"object","additionalProperties":true}`, `{"type":"object","additionalProperties":true}`},
		{"objects inside", `{"type":"array","items":{"anyOf":[{"properties":{"x":{"type":"object"}}},{"type":"null"}]}}`, `{"type":"array","items":{"anyOf":[{"properties":{"x":{"type":"object","additionalProperties":false}},"additionalProperties":false},{"type":"null"}]}}`},
		{"definitions", `{"$ref":"#/$defs/d","$defs":{"d":{"type":"object"}}}`, `{"$ref":"#/$defs/d","$defs":{"d":{"type":"object","additionalProperties":false}}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &provider.Request{Model: strictModel, Messages: []provider.Message{user("a")}, Schema: json.RawMessage(test.schema)}
			require.Equal(t, `{"format":{"type":"json_schema","schema":`+test.want+`}}`, part(t, r, Options{}, "output_config"))
			require.Equal(t, "null", part(t, r, Options{}, "tool_choice"))
		})
	}
}

func TestSchemaThatIsNone(t *testing.T) {
	_, err := encode(paramsOf(&provider.Request{Schema: json.RawMessage(`{"type":`)}, model{}, Options{}, nil))
	require.Error(t, err)
}
