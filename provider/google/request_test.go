package google

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func TestBody(t *testing.T) {
	tools := []provider.Tool{
		{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"maximum":9007199254740993}}}`)},
		{Name: "now"},
	}
	const declared = `[{"functionDeclarations":[
		{"name":"read","description":"Reads.","parametersJsonSchema":{"type":"object","properties":{"n":{"maximum":9007199254740993}}}},
		{"name":"now"}]}]`
	const none = `{"functionCallingConfig":{"mode":"NONE"}}`
	const schema = `{"type":"object"}`
	const told = `{"parts":[{"text":"Answer, in the end, with one JSON object that satisfies this JSON schema: {\"type\":\"object\"}"}]}`
	for _, test := range []struct {
		name    string
		request provider.Request
		options Options
		want    map[string]string
	}{
		{"least", provider.Request{Model: "gemma-3"}, Options{}, map[string]string{}},
		{
			"system, tools and length", provider.Request{Model: "gemma-3", System: "Be brief.", Tools: tools}, Options{MaxTokens: 100},
			map[string]string{
				"systemInstruction": `{"parts":[{"text":"Be brief."}]}`,
				"tools":             declared,
				"generationConfig":  `{"maxOutputTokens":100}`,
			},
		},
		{
			"no tools allowed", provider.Request{Model: "gemma-3", Tools: tools, NoTools: true}, Options{},
			map[string]string{"tools": declared, "toolConfig": none},
		},
		{"no tools listed", provider.Request{Model: "gemma-3", NoTools: true}, Options{}, map[string]string{}},
		{
			"schema", provider.Request{Model: "gemini-2.0-flash", Schema: json.RawMessage(schema)}, Options{},
			map[string]string{"generationConfig": `{"responseMimeType":"application/json","responseJsonSchema":` + schema + `}`},
		},
		{
			"schema refused beside tools", provider.Request{Model: "gemini-2.0-flash", Tools: tools, Schema: json.RawMessage(schema)}, Options{},
			map[string]string{"tools": declared, "systemInstruction": told},
		},
		{
			"schema where no tool may be called", provider.Request{Model: "gemini-2.0-flash", Tools: tools, NoTools: true, Schema: json.RawMessage(schema)}, Options{},
			map[string]string{"tools": declared, "toolConfig": none, "systemInstruction": told},
		},
		{
			"schema beside tools", provider.Request{Model: "gemini-3-flash", Tools: tools, Schema: json.RawMessage(schema)}, Options{Thinking: Thinking{Hidden: true}},
			map[string]string{
				"tools":            declared,
				"generationConfig": `{"responseMimeType":"application/json","responseJsonSchema":` + schema + `,"thinkingConfig":{}}`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.request.Messages = []provider.Message{user(text("Q"))}
			test.want["contents"] = `[{"role":"user","parts":[{"text":"Q"}]}]`
			fields := sentBody(t, &test.request, test.options)
			for name, value := range test.want {
				require.Equal(t, canonical(t, []byte(value)), canonical(t, fields[name]), name)
			}
			require.Len(t, fields, len(test.want))
		})
	}
}

func TestSchemaThatIsNoJSON(t *testing.T) {
	_, err := encodeTwice(&provider.Request{Schema: json.RawMessage(`{`)}, model{}, Options{})
	require.Error(t, err)
}

func TestThinking(t *testing.T) {
	for _, test := range []struct{ model, effort, want string }{
		{"gemini-2.0-flash", "high", ``},
		{"gemma-3", "high", ``},
		{"gemini-2.5-pro", "", `{"includeThoughts":true}`},
		{"gemini-2.5-pro", "none", `{"includeThoughts":true,"thinkingBudget":128}`},
		{"gemini-2.5-flash", "none", `{"includeThoughts":true,"thinkingBudget":0}`},
		{"models/gemini-2.5-flash-lite-preview", "high", `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-3-pro-preview", "none", `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3-pro-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro", "medium", `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3-flash", "none", `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"gemini-4-argon", "high", `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-flash-latest", "much", `{"includeThoughts":true,"thinkingLevel":"MUCH"}`},
	} {
		t.Run(test.model+" "+test.effort, func(t *testing.T) {
			config := modelNamed(test.model).thinking(Thinking{Effort: test.effort})
			if test.want == "" {
				require.Nil(t, config)
				return
			}
			got, err := json.Marshal(config)
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(got))
		})
	}
}
