package agent

import (
	"context"
	"slices"

	"jp/agent/repo"
	"jp/compaction"
	"jp/conversation"
)

// ContextUsed says how much of its model's context a conversation uses, by its newest events: "42 % of 200k".
// It is "" if jp does not know.
func ContextUsed(ctx context.Context, r *repo.Repo, events []*conversation.Event) string {
	model := conversation.ModelOf(events)
	tokens, known := compaction.Used(events)
	if !known || model == "" {
		return ""
	}
	window := unasked(ctx, r, model).Context
	if window <= 0 {
		return ""
	}
	return conversation.PartOf(tokens, window)
}

// KnowsContext reaches back to the turn of the newest model call, by which [ContextUsed] counts.
func KnowsContext(back []*conversation.Event) bool {
	return slices.ContainsFunc(back, func(e *conversation.Event) bool {
		return e.Type() == conversation.TypeChatResponse || e.Type() == conversation.TypeToolCallRequest
	})
}
