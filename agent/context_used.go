package agent

import (
	"context"
	"slices"

	"jp/agent/repo"
	"jp/compaction"
	"jp/conversation"
)

// A ContextShare is how much of its model's context a conversation uses.
type ContextShare struct {
	Tokens int `json:"tokens"`
	Window int `json:"window"` // tokens that the model can read
}

// ContextOf is the share by the newest events of a conversation, nil if unknown.
func ContextOf(ctx context.Context, r *repo.Repo, events []*conversation.Event) *ContextShare {
	model := nextModelOf(r, events)
	tokens, known := compaction.Used(events)
	if !known || model == "" {
		return nil
	}
	window := unasked(ctx, r, model).Context
	if window <= 0 {
		return nil
	}
	return &ContextShare{tokens, window}
}

// ContextUsed is [ContextOf] in words, "42 % of 200k", or "".
func ContextUsed(ctx context.Context, r *repo.Repo, events []*conversation.Event) string {
	if share := ContextOf(ctx, r, events); share != nil {
		return conversation.PartOf(share.Tokens, share.Window)
	}
	return ""
}

// KnowsContext reaches back to the turn of the newest model call, by which [ContextUsed] counts.
func KnowsContext(back []*conversation.Event) bool {
	return slices.ContainsFunc(back, func(e *conversation.Event) bool {
		return e.Type() == conversation.TypeChatResponse || e.Type() == conversation.TypeToolCallRequest
	})
}
