package openai

import (
	"context"
	"iter"

	"jp/provider"
)

// Responses asks models through the Responses API, without leaving anything at
// the server. It may be used concurrently.
type Responses struct {
	options Options
}

// NewResponses returns a provider that speaks the Responses API.
func NewResponses(o Options) *Responses { return &Responses{options: o} }

// Stream implements [provider.Provider].
func (r *Responses) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	answer := &outputs{structured: len(request.Schema) > 0}
	return r.options.stream(ctx, "responses", func() (provider.EncodedBody, error) {
		return responsesBody(responsesParams(request, r.options), provider.EncodedOf[provider.EncodedLists[inputItem]](request.Encoded))
	}, answer)
}

// responsesBody is the body of a request. lists holds the JSON of earlier requests.
func responsesBody(r responsesRequest, lists *provider.EncodedLists[inputItem]) (provider.EncodedBody, error) {
	return lists.Body(r.Input, provider.Encoding[inputItem]{
		Whole: func(items []inputItem) ([]byte, error) {
			r.Input = items
			return r.MarshalJSON()
		},
		One:  inputItem.MarshalJSON,
		Stub: inputItem{Role: "user", Content: "jp: the items, 7b1f0c52e9d34a68"},
	})
}

// responsesParams is a request to the Responses API. The server is stateless, so the state of earlier answers
// goes with it.
func responsesParams(r *provider.Request, o Options) responsesRequest {
	p := responsesRequest{
		Model:           r.Model,
		Instructions:    r.System,
		MaxOutputTokens: max(0, o.MaxTokens),
		Input:           inputItems(asked(r.Messages), o.Lacks),
		Tools:           functionTools(r.Tools),
		more:            o.fields(),
	}
	if !o.Lacks.Reasoning {
		p.Include = []string{"reasoning.encrypted_content"}
		if asked := (reasoningOptions{Effort: o.Reasoning.Effort, Summary: o.Reasoning.Summary}); asked != (reasoningOptions{}) {
			p.Reasoning = &asked
		}
	}
	if r.NoTools && len(r.Tools) > 0 {
		p.ToolChoice = "none"
	}
	if len(r.Schema) > 0 {
		p.Text = &textOptions{Format: textFormat{
			Type: "json_schema", Name: schemaName, Strict: strictly(r.Schema), more: map[string]any{"schema": r.Schema},
		}}
	}
	if o.ownServer() {
		p.CacheKey = r.CacheKey
		if r.CacheKey != "" && o.longestCache(r.Model) {
			p.CacheRetention = "24h"
		}
	}
	return p
}

// functionTools are the tools. strict is off, since the server would force arguments into a subset of JSON
// schema.
func functionTools(tools []provider.Tool) []responsesTool {
	var all []responsesTool
	for _, t := range tools {
		all = append(all, responsesTool{
			Type: "function", Name: t.Name, Description: t.Description, more: map[string]any{"parameters": parameters(t)},
		})
	}
	return all
}
