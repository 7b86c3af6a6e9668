package provider_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/testing/wirecheck"
	"jp/provider"
)

// A server is a kind of server: its rules here, and those of the validator.
type server struct {
	rules provider.ToolRules
	judge func(tools []provider.Tool) []wirecheck.Violation
}

func chatRules(rules provider.ToolRules, dialect wirecheck.ChatDialect) server {
	return server{rules, func(tools []provider.Tool) []wirecheck.Violation {
		return wirecheck.Chat(body(`{"model":"m","messages":[{"role":"user","content":"Q"}],"tools":[%s]}`, `{"type":"function","function":{"name":%q,"parameters":%s}}`, tools),
			wirecheck.Capability{Chat: dialect})
	}}
}

func servers() map[string]server {
	return map[string]server{
		"anthropic": {provider.ToolRules{Max: -1}, func(tools []provider.Tool) []wirecheck.Violation {
			return wirecheck.Anthropic(body(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Q"}],"tools":[%s]}`, `{"name":%q,"input_schema":%s}`, tools), wirecheck.Capability{})
		}},
		"openai": chatRules(provider.ToolRules{}, wirecheck.ChatDialect{}),
		"kimi":   chatRules(provider.ToolRules{TypeInBranches: true}, wirecheck.ChatDialect{TypeInBranches: true}),
		"gemini": {provider.ToolRules{Max: 512, Keys: provider.WordKeys, Subset: true}, func(tools []provider.Tool) []wirecheck.Violation {
			return wirecheck.Gemini(body(`{"contents":[{"role":"user","parts":[{"text":"Q"}]}],"tools":[{"functionDeclarations":[%s]}]}`, `{"name":%q,"parametersJsonSchema":%s}`, tools), wirecheck.Capability{})
		}},
		"gemini chat": chatRules(provider.ToolRules{Keys: provider.WordKeys, Subset: true}, wirecheck.ChatDialect{GeminiTools: true}),
	}
}

// body is a request's body with the tools.
func body(request, tool string, tools []provider.Tool) []byte {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = fmt.Sprintf(tool, t.Name, t.Parameters)
	}
	return fmt.Appendf(nil, request, strings.Join(all, ","))
}

func look(schema string) provider.Tool {
	return provider.Tool{Name: "look", Description: "Looks.", Parameters: json.RawMessage(schema)}
}

// TestDefinitionsBecomeFit has the kinds of schema that servers refuse, with their rewritten forms.
func TestDefinitionsBecomeFit(t *testing.T) {
	property := func(schema string) string { return `{"properties":{"a":` + schema + `},"type":"object"}` }
	for _, test := range []struct {
		name, schema string
		want         map[string]string // by server; "" for any other
	}{
		{"what is fit stays", `{ "type":"object", "properties":{"b":{"type":"string"},"a":{"type":"integer"}}, "required":["b"]}`,
			map[string]string{"": `{ "type":"object", "properties":{"b":{"type":"string"},"a":{"type":"integer"}}, "required":["b"]}`}},
		{"nothing", `{}`, map[string]string{"": `{"properties":{},"type":"object"}`}},
		{"null where a list was meant", `{"type":"object","properties":null,"required":null}`, map[string]string{"": `{"properties":{},"type":"object"}`}},
		{"a choice of what is required", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"anyOf":[{"required":["b"]},{"required":["a"]}]}`,
			map[string]string{"": `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"type":"object"}`}},
		{"a choice of objects", `{"oneOf":[{"type":"object","properties":{"k":{"const":"x"},"a":{"type":"string"}},"required":["k","a"]},{"type":"object","properties":{"k":{"const":"y"}},"required":["k"]}]}`,
			map[string]string{
				"":       `{"properties":{"a":{"type":"string"},"k":{"anyOf":[{"const":"x"},{"const":"y"}]}},"required":["k"],"type":"object"}`,
				"kimi":   `{"properties":{"a":{"type":"string"},"k":{"anyOf":[{"const":"x","type":"string"},{"const":"y","type":"string"}]}},"required":["k"],"type":"object"}`,
				"gemini": `{"properties":{"a":{"type":"string"},"k":{"anyOf":[{"enum":["x"],"type":"string"},{"enum":["y"],"type":"string"}]}},"required":["k"],"type":"object"}`,
			}},
		{"a choice that cannot be", `{"anyOf":[{"type":"string"},{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}]}`,
			map[string]string{"": `{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`}},
		{"all of several", `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"$ref":"#/$defs/B"}],"$defs":{"B":{"properties":{"b":{"type":"integer"}},"required":["b"]}}}`,
			map[string]string{
				"":       `{"$defs":{"B":{"properties":{"b":{"type":"integer"}},"required":["b"]}},"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"],"type":"object"}`,
				"gemini": `{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"],"type":"object"}`,
			}},
		{"a reference for all", `{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"a":{"type":"string"}}}}}`,
			map[string]string{
				"":       `{"definitions":{"A":{"properties":{"a":{"type":"string"}},"type":"object"}},"properties":{"a":{"type":"string"}},"type":"object"}`,
				"gemini": `{"properties":{"a":{"type":"string"}},"type":"object"}`,
			}},
		{"an array of what", property(`{"type":"array"}`), map[string]string{
			"":       `{"properties":{"a":{"items":{},"type":"array"}},"type":"object"}`,
			"gemini": `{"properties":{"a":{"items":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},{"items":{"type":"string"},"type":"array"}]},"type":"array"}},"type":"object"}`,
		}},
		{"a tuple", property(`{"type":"array","items":[{"type":"string"}],"additionalItems":{"type":"integer"}}`),
			map[string]string{"": `{"properties":{"a":{"items":{"type":"integer"},"prefixItems":[{"type":"string"}],"type":"array"}},"type":"object"}`}},
		{"a format", property(`{"type":"string","format":"uri","default":"x"}`), map[string]string{
			"": property(`{"type":"string","format":"uri","default":"x"}`), "gemini": `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		}},
		{"types", property(`{"type":["string","array"],"description":"D."}`), map[string]string{
			"":       `{"properties":{"a":{"description":"D.","items":{},"type":["string","array"]}},"type":"object"}`,
			"gemini": `{"properties":{"a":{"anyOf":[{"type":"string"},{"items":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},{"items":{"type":"string"},"type":"array"}]},"type":"array"}],"description":"D."}},"type":"object"}`,
		}},
		{"an enum of numbers", property(`{"type":"integer","enum":[1,2]}`), map[string]string{
			"": property(`{"type":"integer","enum":[1,2]}`), "gemini": `{"properties":{"a":{"description":"One of 1, 2.","type":"integer"}},"type":"object"}`,
		}},
		{"a type beside a choice", property(`{"type":"object","properties":{"b":{"type":"string"}},"anyOf":[{"required":["b"]},{"type":"object"}]}`), map[string]string{
			"":       property(`{"type":"object","properties":{"b":{"type":"string"}},"anyOf":[{"required":["b"]},{"type":"object"}]}`),
			"kimi":   `{"properties":{"a":{"anyOf":[{"required":["b"],"type":"object"},{"type":"object"}],"properties":{"b":{"type":"string"}}}},"type":"object"}`,
			"gemini": `{"properties":{"a":{"anyOf":[{"type":"object"},{"type":"object"}]}},"type":"object"}`,
		}},
		{"drafts 3 and 4", property(`{"type":"integer","required":true,"minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`), map[string]string{
			"":       `{"properties":{"a":{"exclusiveMinimum":1,"maximum":9,"type":"integer"}},"required":["a"],"type":"object"}`,
			"gemini": `{"properties":{"a":{"maximum":9,"type":"integer"}},"required":["a"],"type":"object"}`,
		}},
		{"a reference without an end", `{"type":"object","properties":{"a":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}`, map[string]string{
			"":       `{"type":"object","properties":{"a":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}`,
			"gemini": `{"properties":{"a":{"properties":{"n":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},{"items":{"type":"string"},"type":"array"}]}},"type":"object"}},"type":"object"}`,
		}},
		{"a property called $ref", property(`{"type":"object","properties":{"$ref":{"type":"string"},"type":{"type":"string"}},"required":["$ref"]}`), map[string]string{
			"":       property(`{"type":"object","properties":{"$ref":{"type":"string"},"type":{"type":"string"}},"required":["$ref"]}`),
			"gemini": property(`{"type":"object","properties":{"$ref":{"type":"string"},"type":{"type":"string"}},"required":["$ref"]}`),
		}},
		{"a parameter called $ref", `{"type":"object","properties":{"$ref":{"type":"string"},"b":{"$ref":"#/properties/$ref"}}}`,
			map[string]string{"": `{"properties":{"b":{"type":"string"},"ref":{"type":"string"}},"type":"object"}`}},
		{"a definition called $ref", `{"type":"object","properties":{"a":{"$ref":"#/$defs/$ref"}},"$defs":{"$ref":{"type":"object","properties":{"$ref":{"type":"integer"}}}}}`, map[string]string{
			"":       `{"type":"object","properties":{"a":{"$ref":"#/$defs/$ref"}},"$defs":{"$ref":{"type":"object","properties":{"$ref":{"type":"integer"}}}}}`,
			"gemini": `{"properties":{"a":{"properties":{"$ref":{"type":"integer"}},"type":"object"}},"type":"object"}`,
		}},
		{"a reference that is no text", property(`{"type":"object","$ref":{"type":"string"}}`), map[string]string{"": `{"properties":{"a":{"type":"object"}},"type":"object"}`}},
		{"$ref in a value", property(`{"const":{"$ref":"#/a"},"type":"object"}`), map[string]string{
			"": property(`{"const":{"$ref":"#/a"},"type":"object"}`), "gemini": `{"properties":{"a":{"type":"object"}},"type":"object"}`,
		}},
		{"an escaped reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/a%24b"}},"$defs":{"a$b":{"type":"string"}}}`, map[string]string{
			"":       `{"$defs":{"a$b":{"type":"string"}},"properties":{"a":{"type":"string"}},"type":"object"}`,
			"gemini": `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		}},
		{"a reference to nothing", property(`{"$ref":"other.json","description":"D."}`), map[string]string{
			"":       `{"properties":{"a":{"description":"D."}},"type":"object"}`,
			"gemini": `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},{"items":{"type":"string"},"type":"array"}],"description":"D."}},"type":"object"}`,
		}},
	} {
		for name, s := range servers() {
			t.Run(test.name+", "+name, func(t *testing.T) {
				want, own := test.want[strings.TrimSuffix(name, " chat")]
				if !own {
					want = test.want[""]
				}
				tools := provider.AdaptTools([]provider.Tool{look(test.schema)}, s.rules, nil)
				require.Empty(t, tools.LeftOut)
				require.Equal(t, want, string(tools.Tools[0].Parameters))
				require.Empty(t, s.judge(tools.Tools))
			})
		}
	}
}

// TestChoicesAreToldInWords: the description replaces the dropped parts of the schema.
func TestChoicesAreToldInWords(t *testing.T) {
	choice := `{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["a"],"anyOf":[{"required":["b"]},{"required":["c"]}]}`
	tools := provider.AdaptTools([]provider.Tool{look(choice)}, provider.ToolRules{}, nil)
	require.Equal(t, "Looks.\nRequired are a and b, or a and c.", tools.Tools[0].Description)
}

// TestWhatCannotBeToldIsLeftOut: one unfit tool does not spoil a request.
func TestWhatCannotBeToldIsLeftOut(t *testing.T) {
	good := look(`{"type":"object","properties":{}}`)
	for schema, why := range map[string]string{
		`{"type":"string"}`: "not an object", `{"type":"array","items":{}}`: "not an object", `false`: "not an object", `"x"`: "not an object",
		`{"anyOf":[{"type":"string"},{"type":"array"}]}`: "not an object", `{"type":"object","allOf":[{"type":"string"}]}`: "not an object", `{"$ref":"#/$defs/X"}`: "not an object", `{"$ref":"#"}`: "not an object", `{`: "not JSON",
	} {
		bad := look(schema)
		bad.Name = "bad"
		for name, s := range servers() {
			tools := provider.AdaptTools([]provider.Tool{bad, good}, s.rules, nil)
			require.Equal(t, []provider.Tool{good}, tools.Tools, "%s, %s", name, schema)
			require.Len(t, tools.LeftOut, 1)
			require.Equal(t, "bad", tools.LeftOut[0].Name)
			require.Contains(t, tools.LeftOut[0].Why, why)
			used := provider.AdaptTools([]provider.Tool{bad, good}, s.rules, map[string]bool{"bad": true})
			require.Equal(t, []provider.Tool{provider.Stub("bad"), good}, used.Tools, "a call of it is in the conversation")
			require.Empty(t, s.judge(used.Tools))
		}
	}
}

// TestNumber keeps as many tools as a server takes, those with calls among them.
func TestNumber(t *testing.T) {
	var all []provider.Tool
	for i := range 600 {
		tool := look(`{"type":"object","properties":{}}`)
		tool.Name = fmt.Sprintf("t%d", i)
		all = append(all, tool)
	}
	for name, most := range map[string]int{"openai": 128, "kimi": 128, "gemini": 512, "gemini chat": 128, "anthropic": 600} {
		s := servers()[name]
		require.Empty(t, provider.AdaptTools(all[:min(most, 600)], s.rules, nil).LeftOut, name)
		tools := provider.AdaptTools(all, s.rules, map[string]bool{"t599": true})
		require.Len(t, tools.Tools, most, name)
		require.Equal(t, "t599", tools.Tools[most-1].Name)
		require.Len(t, tools.LeftOut, 600-most)
		require.Empty(t, s.judge(tools.Tools))
	}
}

// TestParametersAreRenamed: the model knows other names than the tool.
func TestParametersAreRenamed(t *testing.T) {
	long := strings.Repeat("x", 70)
	tool := look(`{"type":"object","properties":{"filter[id]":{"type":"string"},"filter_id":{"type":"string"},"` + long + `":{"type":"string"},"größe":{"type":"string"},"1":{"type":"string"},"a.b":{"type":"string"}},"required":["filter[id]","a.b"]}`)
	own := `{"filter[id]":"1","filter_id":"2","` + long + `":1.0,"größe":{"filter[id]": 3},"1":"","a.b":[],"else[]":null}`
	for name, want := range map[string]string{
		"anthropic": `{"filter_id_665d001d":"1","filter_id":"2","` + long[:64] + `":1.0,"gr__e":{"filter[id]": 3},"1":"","a.b":[],"else[]":null}`,
		"gemini":    `{"filter_id_665d001d":"1","filter_id":"2","` + long[:64] + `":1.0,"gr__e":{"filter[id]": 3},"_1":"","a_b":[],"else[]":null}`,
	} {
		s := servers()[name]
		tools := provider.AdaptTools([]provider.Tool{tool, look("{}")}, s.rules, nil)
		require.True(t, tools.Renamed("look"))
		require.Empty(t, s.judge(tools.Tools[:1]))
		wire := tools.ToWire("look", []byte(own))
		require.Equal(t, want, string(wire))
		require.Equal(t, own, string(tools.FromWire("look", wire)))
		require.Equal(t, `{"größe":1,"filter[id]":2,"filter_id_665d001d":3}`, string(tools.FromWire("look", []byte(`{"größe":1,"filter[id]":2,"filter_id_665d001d":3}`))), "the model knows the tool's name")
		require.Equal(t, `{"a":`, string(tools.FromWire("look", []byte(`{"a":`))), "what is no object stays")
		require.Equal(t, own, string(tools.FromWire("other", []byte(own))))
	}
}

// drawSchema makes schemas of all valid parts, and of invalid ones.
func drawSchema(t *rapid.T, depth int) any {
	if depth > 3 || rapid.IntRange(0, 9).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]any{map[string]any{}, true, false, nil, "x", map[string]any{"type": "string"}, map[string]any{"$ref": "#"}, map[string]any{"$ref": "#/$defs/D"}, map[string]any{"$ref": "#/properties/a"}}).Draw(t, "a leaf")
	}
	s := map[string]any{}
	names := []string{"a", "b[]", "c.d", "größe", "3d", strings.Repeat("n", 65), ""}
	some := func(what string) any {
		m := map[string]any{}
		for _, key := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, what) {
			m[key] = drawSchema(t, depth+1)
		}
		return m
	}
	several := func(what string) any {
		l := []any{}
		for range rapid.IntRange(0, 3).Draw(t, what) {
			l = append(l, drawSchema(t, depth+1))
		}
		return l
	}
	for _, word := range rapid.SliceOfN(rapid.SampledFrom([]string{
		"type", "type", "type", "properties", "properties", "required", "items", "anyOf", "oneOf", "allOf", "enum", "const", "format", "default", "not", "$defs",
		"additionalProperties", "patternProperties", "minimum", "exclusiveMinimum", "description", "prefixItems", "$ref", "$schema", "if",
	}), 0, 7).Draw(t, "words") {
		switch word {
		case "type":
			s[word] = rapid.SampledFrom([]any{"object", "object", "array", "string", "integer", "any", []any{"string", "null"}, []any{"array", "string"}, []any{}, nil, 1}).Draw(t, "type")
		case "properties", "$defs", "patternProperties":
			s[word] = some(word)
		case "required":
			s[word] = rapid.SampledFrom([]any{[]any{"a"}, []any{"a", "a", "b[]"}, []any{"gone", 1}, true, nil, []any{}}).Draw(t, "required")
		case "anyOf", "oneOf", "allOf", "prefixItems":
			s[word] = several(word)
		case "items":
			s[word] = rapid.SampledFrom([]any{drawSchema(t, depth+1), several(word)}).Draw(t, "items")
		case "enum":
			s[word] = rapid.SampledFrom([]any{[]any{"a", "b"}, []any{1, 2}, []any{""}, []any{}, nil}).Draw(t, "enum")
		case "minimum", "exclusiveMinimum":
			s[word] = rapid.SampledFrom([]any{1, true, false, "0", nil}).Draw(t, word)
		case "const", "default":
			s[word] = rapid.SampledFrom([]any{"x", 1, nil, map[string]any{}}).Draw(t, word)
		case "format", "description", "$schema":
			s[word] = rapid.SampledFrom([]any{"uri", "date-time", 1, nil}).Draw(t, word)
		case "$ref":
			s[word] = rapid.SampledFrom([]any{"#", "#/$defs/a", "#/properties/a", "http://x/y", 1, ""}).Draw(t, word)
		default:
			s[word] = drawSchema(t, depth+1)
		}
	}
	return s
}

// TestAnySchemaBecomesFitOrIsLeftOut draws schemas. The rewritten ones keep the rules, are the same each
// time, and stay the same when rewritten again.
func TestAnySchemaBecomesFitOrIsLeftOut(t *testing.T) {
	all := servers()
	told, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		schema, err := json.Marshal(drawSchema(t, 0))
		require.NoError(t, err)
		for name, s := range all {
			tools := provider.AdaptTools([]provider.Tool{look(string(schema))}, s.rules, nil)
			require.Len(t, append(tools.LeftOut, make([]provider.OmittedTool, len(tools.Tools))...), 1)
			if len(tools.LeftOut) > 0 {
				left++
				continue
			}
			told++
			require.Empty(t, s.judge(tools.Tools), "%s: %s becomes %s", name, schema, tools.Tools[0].Parameters)
			require.Equal(t, tools, provider.AdaptTools([]provider.Tool{look(string(schema))}, s.rules, nil))
			again := provider.AdaptTools(tools.Tools, s.rules, nil)
			require.Equal(t, string(tools.Tools[0].Parameters), string(again.Tools[0].Parameters), "%s: %s", name, schema)
		}
	})
	require.Greater(t, told, 20)
	require.Greater(t, left, 2)
}
