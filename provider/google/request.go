package google

import (
	"encoding/json"
	"math"
	"strings"

	"jp/provider"
)

// body is a request, in the order of sending.
type body struct {
	Contents          []content         `json:"contents"`
	GenerationConfig  *generationConfig `json:"generationConfig,omitempty"`
	SystemInstruction *content          `json:"systemInstruction,omitempty"`
	ToolConfig        *toolConfig       `json:"toolConfig,omitempty"`
	Tools             []toolSet         `json:"tools,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens    int             `json:"maxOutputTokens,omitempty"`
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	ThinkingConfig     *thinkingConfig `json:"thinkingConfig,omitempty"`
}

// encode makes the body of a request. lists holds the JSON of earlier requests. It fails if a schema is
// invalid JSON.
func encode(r *provider.Request, m model, o Options, lists *provider.EncodedLists[content]) (provider.EncodedBody, error) {
	b := bodyOf(r, m, o)
	return lists.Body(b.Contents, provider.Encoding[content]{
		Whole: func(contents []content) ([]byte, error) {
			b.Contents = contents
			return json.Marshal(b)
		},
		One:  func(c content) ([]byte, error) { return json.Marshal(c) },
		Stub: content{Role: "user", Parts: []any{part{Text: "jp: the contents, 7b1f0c52e9d34a68"}}},
	})
}

func bodyOf(r *provider.Request, m model, o Options) body {
	b := body{
		Contents:         contentsOf(r.Messages, m),
		GenerationConfig: configOf(r, m, o),
	}
	if system := systemOf(r, m); strings.TrimSpace(system) != "" {
		b.SystemInstruction = &content{Parts: []any{part{Text: system}}}
	}
	if len(r.Tools) > 0 {
		b.Tools = []toolSet{{FunctionDeclarations: declarationsOf(r.Tools)}}
	}
	if len(r.Tools) > 0 && r.NoTools {
		b.ToolConfig = &toolConfig{FunctionCalling: functionCalling{Mode: modeNone}}
	}
	return b
}

// systemOf is the system text for the model. If the server cannot enforce the schema, the text describes it.
func systemOf(r *provider.Request, m model) string {
	if len(r.Schema) == 0 || structured(r, m) {
		return r.System
	}
	return strings.TrimSpace(r.System + "\n\nAnswer, in the end, with one JSON object that satisfies this JSON schema: " + string(r.Schema))
}

// structured reports whether the server enforces the request's schema. It does not for models that refuse a
// schema together with functions.
func structured(r *provider.Request, m model) bool {
	return len(r.Schema) > 0 && (len(r.Tools) == 0 || m.data)
}

func configOf(r *provider.Request, m model, o Options) *generationConfig {
	config := generationConfig{
		MaxOutputTokens: min(max(o.MaxTokens, 0), math.MaxInt32),
		ThinkingConfig:  m.thinking(o.Thinking),
	}
	if structured(r, m) {
		config.ResponseMIMEType, config.ResponseJSONSchema = "application/json", r.Schema
	}
	if config.MaxOutputTokens == 0 && config.ThinkingConfig == nil && config.ResponseMIMEType == "" {
		return nil
	}
	return &config
}

func declarationsOf(tools []provider.Tool) []functionDeclaration {
	declarations := make([]functionDeclaration, len(tools))
	for i, tool := range tools {
		declarations[i] = functionDeclaration{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters}
	}
	return declarations
}
