package openai

import (
	"context"
	"encoding/json"
	"iter"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"jp/provider"
	"jp/provider/encoded"
)

// Chat asks models through Chat Completions. It may be used concurrently.
type Chat struct {
	options Options
	sent    encoded.Lists[sdk.ChatCompletionMessageParamUnion]
}

// NewChat returns a provider that speaks Chat Completions, in the dialect of
// the options.
func NewChat(o Options) *Chat { return &Chat{options: o} }

// Stream implements [provider.Provider].
func (c *Chat) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	r := &chatReader{deltas: deltas{dialect: c.options.Dialect, structured: len(request.Schema) > 0}}
	return c.options.stream(ctx, "chat/completions", func() ([]byte, error) { return chatBody(chatParams(request, c.options), &c.sent) }, r)
}

// chatBody is the body of a request, in which lists has what earlier ones have.
func chatBody(p sdk.ChatCompletionNewParams, lists *encoded.Lists[sdk.ChatCompletionMessageParamUnion]) ([]byte, error) {
	return lists.Body(p.Messages, encoded.Encoding[sdk.ChatCompletionMessageParamUnion]{
		Whole: func(messages []sdk.ChatCompletionMessageParamUnion) ([]byte, error) {
			p.Messages = messages
			return p.MarshalJSON()
		},
		One:  sdk.ChatCompletionMessageParamUnion.MarshalJSON,
		Stub: sdk.UserMessage("jp: the messages, 7b1f0c52e9d34a68"),
	})
}

// chatParams is a request to Chat Completions.
func chatParams(r *provider.Request, o Options) sdk.ChatCompletionNewParams {
	d := o.Dialect
	p := sdk.ChatCompletionNewParams{
		Model:    r.Model,
		Messages: chatMessages(r, o),
		Tools:    chatTools(r.Tools),
	}
	if r.NoTools && len(r.Tools) > 0 {
		p.ToolChoice.OfAuto = param.NewOpt("none")
	}
	if !d.NoStreamOptions {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if d.ParallelCalls && len(r.Tools) > 0 {
		p.ParallelToolCalls = param.NewOpt(true)
	}
	p.ResponseFormat = d.responseFormat(r.Schema)
	p.SetExtraFields(chatFields(o))
	return p
}

// chatFields are the fields whose names the dialect decides.
func chatFields(o Options) map[string]any {
	fields := map[string]any{}
	if o.MaxTokens > 0 {
		fields[o.Dialect.maxTokensField()] = o.MaxTokens
	}
	if effort := o.Reasoning.Effort; effort != "" && !o.Lacks.Reasoning {
		if o.Dialect.ReasoningObject {
			fields["reasoning"] = map[string]string{"effort": effort}
		} else {
			fields["reasoning_effort"] = effort
		}
	}
	for name, value := range o.fields() {
		fields[name] = value
	}
	return fields
}

func chatMessages(r *provider.Request, o Options) []sdk.ChatCompletionMessageParamUnion {
	var messages []sdk.ChatCompletionMessageParamUnion
	if system := o.Dialect.system(r); system != "" {
		messages = append(messages, systemMessage(system, o.Dialect.SystemRole))
	}
	for _, s := range newTranscript(o.Dialect, o.Lacks).arrange(asked(r.Messages)) {
		messages = append(messages, s.encode(o.Dialect))
	}
	return messages
}

// system is what the model is told first. Where no schema can be given, it has
// to be told in words.
func (d Dialect) system(r *provider.Request) string {
	if !d.JSONObject || len(r.Schema) == 0 {
		return r.System
	}
	wanted := "Answer with one JSON object that satisfies this JSON schema: " + string(r.Schema)
	if r.System == "" {
		return wanted
	}
	return r.System + "\n\n" + wanted
}

func systemMessage(text, role string) sdk.ChatCompletionMessageParamUnion {
	if role == "developer" {
		return sdk.DeveloperMessage(text)
	}
	return sdk.SystemMessage(text)
}

func chatTools(tools []provider.Tool) []sdk.ChatCompletionToolUnionParam {
	var all []sdk.ChatCompletionToolUnionParam
	for _, t := range tools {
		f := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		f.SetExtraFields(map[string]any{"parameters": parameters(t)})
		all = append(all, sdk.ChatCompletionFunctionTool(f))
	}
	return all
}

// parameters are the tool's parameters in the order in which they are defined.
func parameters(t provider.Tool) json.RawMessage {
	if len(t.Parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Parameters
}

func (d Dialect) responseFormat(schema json.RawMessage) sdk.ChatCompletionNewParamsResponseFormatUnion {
	var format sdk.ChatCompletionNewParamsResponseFormatUnion
	switch {
	case len(schema) == 0:
	case d.JSONObject:
		format.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	default:
		named := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: schemaName, Schema: schema}
		if strictly(schema) {
			named.Strict = param.NewOpt(true)
		}
		format.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: named}
	}
	return format
}
