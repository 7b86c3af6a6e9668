package vendortest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// TestStrictServersRefuse sends requests that a vendor refuses, and expects its words.
func TestStrictServersRefuse(t *testing.T) {
	const call = `{"role":"assistant","content":%s,"tool_calls":[{"id":"%s","type":"function","function":{"name":"look","arguments":"{}"}}]%s}`
	const look = `"tools":[{"type":"function","function":{"name":"look","parameters":%s}}]`
	chat := func(schema string, messages ...string) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Q"}%s],`+look+`}`, strings.Join(append([]string{""}, messages...), ","), schema)
	}
	good := `{"type":"object","properties":{}}`
	result := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"ok"}` }
	refused := 0
	for _, test := range []struct{ vendor, name, body, says string }{
		{"work", "a call without its result", chat(good, fmt.Sprintf(call, "null", "c1", ""), `{"role":"user","content":"Q"}`, fmt.Sprintf(call, "null", "c2", ""), result("c1"), result("c2")), "must be followed by tool messages"},
		{"work", "no content", chat(good, strings.Replace(fmt.Sprintf(call, "null", "c1", ""), `"content":null,`, "", 1), result("c1")), "missing field `content`"},
		{"work", "anyOf", chat(`{"type":"object","properties":{},"anyOf":[{"type":"object"}]}`), "at the top level"},
		{"work", "no properties", chat(`{"type":"object"}`), "object schema missing properties"},
		{"openrouter", "no items", chat(`{"type":"object","properties":{"a":{"type":"array"}}}`), "array schema missing items"},
		{"deepseek", "content is null", chat(good, fmt.Sprintf(call, "null", "c1", `,"reasoning_content":"x"`), result("c1")), "Failed to deserialize the JSON body into the target type"},
		{"deepseek", "no reasoning", chat(good, fmt.Sprintf(call, `""`, "c1", ""), result("c1")), "reasoning_content is missing"},
		{"kimi", "an id of another form", chat(good, fmt.Sprintf(call, "null", "c1", `,"reasoning_content":"x"`), result("c1")), "Invalid request: "},
		{"kimi", "a type beside anyOf", chat(`{"type":"object","properties":{"a":{"type":"string","anyOf":[{"type":"string"}]}}}`), "instead of the parent schema"},
		{"mistral", "the user behind a tool", chat(good, fmt.Sprintf(call, "null", "abcdefghi", ""), result("abcdefghi"), `{"role":"user","content":"Q"}`), "Unexpected role 'user' after role 'tool'"},
		{"mistral", "an id of another length", chat(good, fmt.Sprintf(call, "null", "c1", ""), result("c1")), `"code":"3230"`},
		{"glm", "two users", chat(good, `{"role":"user","content":"R"}`), `"code":"1214"`},
		{"azure", "a long id", chat(good, fmt.Sprintf(call, "null", strings.Repeat("i", 41), ""), result(strings.Repeat("i", 41))), "more than 40"},
		{"lmstudio", "no properties", chat(`{"type":"object"}`), "object schema missing properties"},
		{"vllm", "two users", chat(good, `{"role":"user","content":"R"}`), "BadRequestError"},
		{"llamacpp", "two users", chat(good, `{"role":"user","content":"R"}`), "invalid_request_error"},
		{"litellm", "two users", chat(good, `{"role":"user","content":"R"}`), "litellm.BadRequestError"},
		{"anthropic", "anyOf", `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"Q"}],"tools":[{"name":"look","input_schema":{"type":"object","anyOf":[{"type":"object"}]}}]}`, "does not support oneOf, allOf, or anyOf at the top level"},
		{"openai", "a call without its output", `{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":[{"type":"input_text","text":"Q"}]},{"type":"function_call","call_id":"c1","name":"look","arguments":"{}"},{"role":"user","content":[{"type":"input_text","text":"Q"}]}],"tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{}}}]}`, "has no result"},
		{"google", "a format", `{"contents":[{"role":"user","parts":[{"text":"Q"}]}],"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string","format":"uri"}}}}]}]}`, "INVALID_ARGUMENT"},
	} {
		t.Run(test.vendor+", "+test.name, func(t *testing.T) {
			v := vendortest.VendorNamed(test.vendor)
			s := vendortest.New(t)
			s.Strict()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+v.Path(), strings.NewReader(test.body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/json")
			v.Authorize(request)
			response, err := s.Client().Do(request)
			require.NoError(t, err)
			said, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusBadRequest, response.StatusCode)
			require.Contains(t, string(said), test.says)
			require.NotEmpty(t, s.Refused())
			refused++
		})
	}
	t.Logf("%d bodies refused", refused)
}
