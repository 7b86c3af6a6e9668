package wirecheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/wirecheck"
)

// withTool is a body of each API with one tool of these parameters.
func withTool(schema string) map[string]func() []wirecheck.Violation {
	chat := func(c wirecheck.ChatDialect) func() []wirecheck.Violation {
		return func() []wirecheck.Violation {
			body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Q"}],"tools":[{"type":"function","function":{"name":"read","parameters":%s}}]}`, schema)
			return wirecheck.Chat([]byte(body), wirecheck.Capability{Chat: c})
		}
	}
	return map[string]func() []wirecheck.Violation{
		"anthropic": func() []wirecheck.Violation {
			body := fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Q"}],"tools":[{"name":"read","input_schema":%s}]}`, schema)
			return wirecheck.Anthropic([]byte(body), wirecheck.Capability{})
		},
		"chat": chat(wirecheck.ChatDialect{}), "kimi": chat(wirecheck.ChatDialect{TypeInBranches: true}), "gemini chat": chat(wirecheck.ChatDialect{GeminiTools: true}),
		"responses": func() []wirecheck.Violation {
			body := fmt.Sprintf(`{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":[{"type":"input_text","text":"Q"}]}],"tools":[{"type":"function","name":"read","parameters":%s}]}`, schema)
			return wirecheck.Responses([]byte(body), wirecheck.Capability{})
		},
		"gemini": func() []wirecheck.Violation {
			body := fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":"Q"}]}],"tools":[{"functionDeclarations":[{"name":"read","parametersJsonSchema":%s}]}]}`, schema)
			return wirecheck.Gemini([]byte(body), wirecheck.Capability{})
		},
	}
}

// TestToolDefinitions has one defect of a definition in each row, and the APIs that
// refuse a request for it.
func TestToolDefinitions(t *testing.T) {
	all := []string{"anthropic", "chat", "gemini", "gemini chat", "kimi", "responses"}
	google, openai := []string{"gemini", "gemini chat"}, []string{"chat", "kimi", "responses"}
	property := func(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }
	deep := func(n int) string {
		return property(strings.Repeat(`{"type":"array","items":`, n) + `{"type":"string"}` + strings.Repeat("}", n))
	}
	for _, test := range []struct {
		name, schema string
		refused      []string
	}{
		{"nothing", property(`{"type":"string"}`), nil},
		{"no parameters", `{"type":"object","properties":{}}`, nil},
		{"no type", `{"properties":{}}`, all},
		{"another type", `{"type":"array","items":{"type":"string"}}`, all},
		{"a list of types", `{"type":["object"],"properties":{}}`, all},
		{"no properties", `{"type":"object"}`, openai},
		{"anyOf at the top", `{"type":"object","properties":{},"anyOf":[{"type":"object"}]}`, all},
		{"oneOf at the top", `{"type":"object","properties":{},"oneOf":[{"type":"object"}]}`, all},
		{"allOf at the top", `{"type":"object","properties":{},"allOf":[{"type":"object"}]}`, all},
		{"not at the top", `{"type":"object","properties":{},"not":{"type":"object"}}`, all},
		{"enum at the top", `{"type":"object","properties":{},"enum":[{}]}`, all},
		{"a key with brackets", `{"type":"object","properties":{"filter[id]":{"type":"string"}}}`, []string{"anthropic", "gemini", "gemini chat"}},
		{"a key with a dot", `{"type":"object","properties":{"filter.id":{"type":"string"}}}`, google},
		{"a key of 65", `{"type":"object","properties":{"` + strings.Repeat("a", 65) + `":{"type":"string"}}}`, []string{"anthropic", "gemini", "gemini chat"}},
		{"a key of 64", `{"type":"object","properties":{"` + strings.Repeat("a", 64) + `":{"type":"string"}}}`, nil},
		{"an array without items", property(`{"type":"array"}`), []string{"chat", "gemini", "gemini chat", "kimi", "responses"}},
		{"a tuple of draft 7", property(`{"type":"array","items":[{"type":"string"}]}`), all},
		{"an array deep down", property(`{"type":"object","properties":{"b":{"type":"array"}}}`), []string{"chat", "gemini", "gemini chat", "kimi", "responses"}},
		{"an unknown type", property(`{"type":"any"}`), all},
		{"required is true", property(`{"type":"string","required":true}`), all},
		{"required is null", `{"type":"object","properties":{},"required":null}`, all},
		{"required twice", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","a"]}`, all},
		{"an exclusive bound of draft 4", property(`{"type":"integer","minimum":1,"exclusiveMinimum":true}`), all},
		{"an empty enum", property(`{"type":"string","enum":[]}`), all},
		{"an empty anyOf", property(`{"anyOf":[]}`), all},
		{"a reference to nothing", property(`{"$ref":"#/$defs/X"}`), all},
		{"a reference elsewhere", property(`{"$ref":"https://example.com/x.json"}`), all},
		{"a reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/X"}},"$defs":{"X":{"type":"string"}}}`, google},
		{"deep", deep(30), nil},
		{"too deep", deep(31), all},
		{"no type at all", property(`{}`), google},
		{"true", property(`true`), google},
		{"types", property(`{"type":["string","integer"]}`), google},
		{"a type or null", property(`{"type":["string","null"]}`), []string{"gemini chat"}},
		{"a format", property(`{"type":"string","format":"uri"}`), google},
		{"a known format", property(`{"type":"string","format":"date-time"}`), nil},
		{"an enum of numbers", property(`{"type":"integer","enum":[1,2]}`), google},
		{"an enum with nothing", property(`{"type":"string","enum":["","a"]}`), google},
		{"properties of a string", property(`{"type":"string","properties":{}}`), google},
		{"required of what is not there", `{"type":"object","properties":{},"required":["a"]}`, google},
		{"a default", property(`{"type":"string","default":"x"}`), google},
		{"a type beside anyOf", property(`{"type":"object","anyOf":[{"type":"object"}]}`), []string{"kimi"}},
		{"a branch without a type", property(`{"anyOf":[{"description":"x"},{"type":"string"}]}`), []string{"gemini", "gemini chat", "kimi"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var refused []string
			for api, found := range withTool(test.schema) {
				for _, v := range found() {
					require.Equal(t, "P12", v.Rule, "%s: %v", api, v)
					refused = append(refused, api)
				}
			}
			slices.Sort(refused)
			require.Equal(t, test.refused, slices.Compact(refused))
		})
	}
}

// TestNumberOfTools has as many tools as an endpoint takes, and one more.
func TestNumberOfTools(t *testing.T) {
	bodies := map[string]func(int) []wirecheck.Violation{
		"chat": func(n int) []wirecheck.Violation {
			return wirecheck.Chat(toolBody(`{"model":"m","messages":[{"role":"user","content":"Q"}],"tools":[%s]}`, `{"type":"function","function":{"name":"t%d"}}`, n), wirecheck.Capability{})
		},
		"responses": func(n int) []wirecheck.Violation {
			return wirecheck.Responses(toolBody(`{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":[{"type":"input_text","text":"Q"}]}],"tools":[%s]}`, `{"type":"function","name":"t%d"}`, n), wirecheck.Capability{})
		},
		"gemini": func(n int) []wirecheck.Violation {
			return wirecheck.Gemini(toolBody(`{"contents":[{"role":"user","parts":[{"text":"Q"}]}],"tools":[{"functionDeclarations":[%s]}]}`, `{"name":"t%d"}`, n), wirecheck.Capability{})
		},
	}
	for api, most := range map[string]int{"chat": 128, "responses": 128, "gemini": 512} {
		require.Empty(t, bodies[api](most), api)
		require.Equal(t, "P12", bodies[api](most + 1)[0].Rule, api)
	}
	many := wirecheck.Chat(toolBody(`{"model":"m","messages":[{"role":"user","content":"Q"}],"tools":[%s]}`, `{"type":"function","function":{"name":"t%d"}}`, 200), wirecheck.Capability{Chat: wirecheck.ChatDialect{ManyTools: true}})
	require.Empty(t, many)
}

func toolBody(body, tool string, n int) []byte {
	tools := make([]string, n)
	for i := range tools {
		tools[i] = fmt.Sprintf(tool, i)
	}
	return fmt.Appendf(nil, body, strings.Join(tools, ","))
}
