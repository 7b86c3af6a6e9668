package google

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func TestAddresses(t *testing.T) {
	for _, test := range []struct{ base, model, want string }{
		{"", "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro"},
		{"/", "models/x", "/v1beta/models/x"},
		{"", "tunedModels/x", "/v1beta/tunedModels/x"},
		{"", "a/b", "/v1beta/models/a/b"},
		{"", "a b#c", "/v1beta/models/a%20b%23c"},
		{"", "a:b", "/v1beta/models/a:b"},
		{"/gemini", "x", "/gemini/v1beta/models/x"},
		{"/gemini/", "x", "/gemini/v1beta/models/x"},
		{"/p?x=y#f", "x", "/p/v1beta/models/x"},
	} {
		asked := ""
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = r.Method + " " + r.RequestURI
			streaming(wholeStream)(w, r)
		})
		p.options.BaseURL += test.base
		request := question()
		request.Model = test.model
		_, err := collect(t, p, request)
		require.NoError(t, err)
		require.Equal(t, "POST "+test.want+":streamGenerateContent?alt=sse", asked)
	}
}

func TestNamesThatAreNoModel(t *testing.T) {
	for _, model := range []string{"", "a?b", "a&b", "../x", "models/.."} {
		p := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
		request := question()
		request.Model = model
		_, err := collect(t, p, request)
		require.ErrorContains(t, requireClass(t, provider.ClassInvalid, err), "invalid model name")
	}
}

// TestFieldsOnTheWire checks the name of every field on the wire, and the order.
func TestFieldsOnTheWire(t *testing.T) {
	request := question()
	request.System, request.NoTools = "Be <brief>.", true
	request.Tools = []provider.Tool{{Name: "read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object","x":12345678901234567890}`)}, {Name: "now"}}
	request.Messages[0].Blocks = append(request.Messages[0].Blocks, file("", "a.png", "image/png", png))
	request.Messages = append(request.Messages,
		said(call("c1", "read", `{"n":1.0}`)),
		results(result("c1", "read", "R"), file("c1", "b.png", "image/png", png)))
	body, err := encodeTwice(request, modelNamed(request.Model), Options{MaxTokens: 5, Thinking: Thinking{Effort: "high"}})
	require.NoError(t, err)
	require.Equal(t, `{"contents":[{"role":"user","parts":[{"text":"Q"},{"inlineData":{"data":"iVBORw0KGgo=","mimeType":"image/png"}}]},`+
		`{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{"n":1.0}},"thoughtSignature":"skip_thought_signature_validator"}]},`+
		`{"role":"user","parts":[{"functionResponse":{"parts":[{"inlineData":{"data":"iVBORw0KGgo=","mimeType":"image/png"}}],"id":"c1","name":"read","response":{"output":"R"}}}]}],`+
		`"generationConfig":{"maxOutputTokens":5,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}},`+
		`"systemInstruction":{"parts":[{"text":"Be \u003cbrief\u003e."}]},"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},`+
		`"tools":[{"functionDeclarations":[{"description":"Reads.","name":"read","parametersJsonSchema":{"type":"object","x":12345678901234567890}},{"name":"now"}]}]}`,
		string(body))

	request.Model, request.Tools, request.Messages, request.Schema = "gemini-2.5-pro", nil, request.Messages[:1], json.RawMessage(`{"type":"object"}`)
	body, err = encodeTwice(request, modelNamed(request.Model), Options{Thinking: Thinking{Effort: "none"}})
	require.NoError(t, err)
	require.Contains(t, string(body), `"generationConfig":{"responseJsonSchema":{"type":"object"},"responseMimeType":"application/json","thinkingConfig":{"includeThoughts":true,"thinkingBudget":128}}`)
}
