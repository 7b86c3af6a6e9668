package openai

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"jp/provider"
	"jp/provider/encoded"
)

// Responses asks models through the Responses API, without leaving anything at
// the server. It may be used concurrently.
type Responses struct {
	options Options
	sent    encoded.Lists[responses.ResponseInputItemUnionParam]
}

// NewResponses returns a provider that speaks the Responses API.
func NewResponses(o Options) *Responses { return &Responses{options: o} }

// Stream implements [provider.Provider].
func (r *Responses) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	answer := &outputs{structured: len(request.Schema) > 0}
	return r.options.stream(ctx, "responses", func() ([]byte, error) { return responsesBody(responsesParams(request, r.options), &r.sent) }, answer)
}

// responsesBody is the body of a request, in which lists has what earlier ones have.
func responsesBody(p responses.ResponseNewParams, lists *encoded.Lists[responses.ResponseInputItemUnionParam]) ([]byte, error) {
	return lists.Body(p.Input.OfInputItemList, encoded.Encoding[responses.ResponseInputItemUnionParam]{
		Whole: func(items []responses.ResponseInputItemUnionParam) ([]byte, error) {
			p.Input.OfInputItemList = items
			return p.MarshalJSON()
		},
		One:  responses.ResponseInputItemUnionParam.MarshalJSON,
		Stub: responses.ResponseInputItemParamOfMessage("jp: the items, 7b1f0c52e9d34a68", responses.EasyInputMessageRoleUser),
	})
}

// responsesParams is a request to the Responses API. The server
// keeps nothing: whatever it needs to know of earlier answers goes with it.
func responsesParams(r *provider.Request, o Options) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: r.Model,
		Store: param.NewOpt(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: inputItems(asked(r.Messages), o.Lacks)},
		Tools: functionTools(r.Tools),
	}
	if r.System != "" {
		p.Instructions = param.NewOpt(r.System)
	}
	if !o.Lacks.Reasoning {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
		p.Reasoning.Effort = shared.ReasoningEffort(o.Reasoning.Effort)
		p.Reasoning.Summary = shared.ReasoningSummary(o.Reasoning.Summary)
	}
	if o.MaxTokens > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(o.MaxTokens))
	}
	if r.NoTools && len(r.Tools) > 0 {
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsNone)
	}
	if len(r.Schema) > 0 {
		p.Text.Format.OfJSONSchema = jsonSchema(r.Schema)
	}
	if o.ownServer() && r.CacheKey != "" {
		p.PromptCacheKey = param.NewOpt(r.CacheKey)
		if o.longestCache(r.Model) {
			p.PromptCacheRetention = responses.ResponseNewParamsPromptCacheRetention24h
		}
	}
	p.SetExtraFields(o.fields())
	return p
}

// functionTools are the tools, whose arguments the server is not to force into
// a subset of JSON schema.
func functionTools(tools []provider.Tool) []responses.ToolUnionParam {
	var all []responses.ToolUnionParam
	for _, t := range tools {
		f := &responses.FunctionToolParam{Name: t.Name, Strict: param.NewOpt(false)}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		f.SetExtraFields(map[string]any{"parameters": parameters(t)})
		all = append(all, responses.ToolUnionParam{OfFunction: f})
	}
	return all
}

func jsonSchema(schema json.RawMessage) *responses.ResponseFormatTextJSONSchemaConfigParam {
	format := &responses.ResponseFormatTextJSONSchemaConfigParam{Name: schemaName}
	if strictly(schema) {
		format.Strict = param.NewOpt(true)
	}
	format.SetExtraFields(map[string]any{"schema": schema})
	return format
}
