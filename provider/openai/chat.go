package openai

import (
	"context"
	"encoding/json"
	"iter"

	"jp/provider"
)

// Chat asks models through Chat Completions. It may be used concurrently.
type Chat struct {
	options Options
}

// NewChat returns a provider that speaks Chat Completions, in the dialect of
// the options.
func NewChat(o Options) *Chat { return &Chat{options: o} }

// Stream implements [provider.Provider].
func (c *Chat) Stream(ctx context.Context, request *provider.Request) iter.Seq2[provider.Chunk, error] {
	r := &chatReader{deltas: deltas{dialect: c.options.Dialect, structured: len(request.Schema) > 0}}
	return c.options.stream(ctx, "chat/completions", func() (provider.EncodedBody, error) {
		return chatBody(chatParams(request, c.options), provider.EncodedOf[provider.EncodedLists[chatMessage]](request.Encoded))
	}, r)
}

// chatBody is the body of a request. lists holds the JSON of earlier requests.
func chatBody(r chatRequest, lists *provider.EncodedLists[chatMessage]) (provider.EncodedBody, error) {
	return lists.Body(r.Messages, provider.Encoding[chatMessage]{
		Whole: func(messages []chatMessage) ([]byte, error) {
			r.Messages = messages
			return r.MarshalJSON()
		},
		One:  chatMessage.MarshalJSON,
		Stub: chatMessage{Role: "user", Content: "jp: the messages, 7b1f0c52e9d34a68"},
	})
}

func chatParams(r *provider.Request, o Options) chatRequest {
	d := o.Dialect
	p := chatRequest{
		Model:          r.Model,
		Messages:       chatMessages(r, o),
		Tools:          chatTools(r.Tools),
		ParallelCalls:  d.ParallelCalls && len(r.Tools) > 0,
		ResponseFormat: d.responseFormat(r.Schema),
		more:           chatFields(o),
	}
	if r.NoTools && len(r.Tools) > 0 {
		p.ToolChoice = "none"
	}
	if !d.NoStreamOptions {
		p.StreamOptions = &streamOptions{IncludeUsage: true}
	}
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

func chatMessages(r *provider.Request, o Options) []chatMessage {
	var messages []chatMessage
	if system := o.Dialect.system(r); system != "" {
		role := "system"
		if o.Dialect.SystemRole == "developer" {
			role = "developer"
		}
		messages = append(messages, chatMessage{Role: role, Content: system})
	}
	for _, s := range newTranscript(o.Dialect, o.Lacks).arrange(asked(r.Messages)) {
		messages = append(messages, s.encode(o.Dialect))
	}
	return messages
}

// system is the system text for the model. If the server takes no schema, the text describes it.
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

func chatTools(tools []provider.Tool) []chatTool {
	var all []chatTool
	for _, t := range tools {
		d := chatDefinition{Name: t.Name, Description: t.Description, more: map[string]any{"parameters": parameters(t)}}
		all = append(all, chatTool{Type: "function", Function: d})
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

func (d Dialect) responseFormat(schema json.RawMessage) *responseFormat {
	switch {
	case len(schema) == 0:
		return nil
	case d.JSONObject:
		return &responseFormat{Type: "json_object"}
	}
	return &responseFormat{Type: "json_schema", JSONSchema: &jsonSchema{Name: schemaName, Schema: schema, Strict: strictly(schema)}}
}
