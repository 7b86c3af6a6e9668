package turnloop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/provider"
)

// answer asks the model a tool's question, in a request of its own.
func (m *modelClient) answer(ctx context.Context, q *conversation.Inquiry) (json.RawMessage, *conversation.Usage, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if m.opts.Limits.spent(m.stream) {
		return nil, nil, errSpent
	}
	options := m.options()
	options.Content, options.NoTools = m.content(ctx), true
	request, err := provider.Build(withPlaceholders(m.stream), options)
	if err != nil {
		return nil, nil, err
	}
	request.Schema = answerSchema(q.Request.Question.AnswerType)
	request.Messages = append(request.Messages, provider.Message{Role: conversation.RoleUser, Blocks: []provider.Block{{
		Kind: provider.BlockText,
		Text: fmt.Sprintf("The tool %s asks: %s Answer with a JSON object that has the key \"answer\" only.", q.Call.Request.Name, q.Request.Question.Text),
	}}})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var text strings.Builder
	for chunk, err := range m.opts.Model.Provider.Stream(ctx, request) {
		switch {
		case err != nil:
			return nil, nil, err
		case chunk.Kind == provider.ChunkData || chunk.Kind == provider.ChunkMessage:
			text.WriteString(chunk.Text)
		case chunk.Kind == provider.ChunkFinish:
			answer := asJSON([]byte(unwrapped(text.String())))["answer"]
			if err := q.Request.Question.AnswerType.Accepts(answer); err != nil {
				return nil, chunk.Usage, fmt.Errorf("the model's answer: %w", err)
			}
			return answer, chunk.Usage, nil
		}
	}
	return nil, nil, fmt.Errorf("the model's answer has no end")
}

// withPlaceholders are the events with a stand-in result for every open call,
// so that they make a request that any provider takes.
func withPlaceholders(stream *conversation.Stream) []*conversation.Event {
	events := stream.Events()
	events = events[:len(events):len(events)]
	for i, call := range stream.Tail().Open() {
		events = append(events, &conversation.Event{
			Seq: stream.NextSeq() + i, Turn: stream.TurnNumber(), Version: conversation.Version,
			Body: &conversation.ToolCallResponse{
				For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name, Content: "The tool waits for the answer to a question.",
			},
		})
	}
	return events
}

// answerSchema is the schema of an object with a valid answer.
func answerSchema(t conversation.AnswerType) json.RawMessage {
	var answer any
	switch t.Type {
	case "boolean":
		answer = map[string]any{"type": "boolean"}
	case "select":
		values := []json.RawMessage{}
		for _, o := range t.Options {
			values = append(values, o.Value)
		}
		answer = map[string]any{"enum": values}
	default:
		answer = map[string]any{"type": "string"}
	}
	schema, _ := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]any{"answer": answer}, "required": []string{"answer"}, "additionalProperties": false,
	})
	return schema
}
