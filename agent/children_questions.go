package agent

import (
	"context"
	"fmt"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
)

// delegationsIn are those of an incomplete turn.
func delegationsIn(tail *conversation.IncompleteTurn) (calls []repo.Delegation) {
	for _, call := range tail.Ledger().Open() {
		if child := call.Child(); child != "" {
			calls = append(calls, repo.Delegation{Tool: call.Request.Name, Child: child})
		}
	}
	return calls
}

// statusOf is what an incomplete turn waits for: also the question of a delegate.
func statusOf(ctx context.Context, r *repo.Repo, id conversation.ID, tail *conversation.IncompleteTurn) conversation.Status {
	status := tail.Status()
	if status == conversation.StatusTools && r.States().AsksFor(ctx, id, delegationsIn(tail), repo.MaxLevels) != nil {
		return conversation.StatusInput
	}
	return status
}

// incompleteConversation says what an incomplete turn waits for, also where a delegate asks.
func incompleteConversation(ctx context.Context, r *repo.Repo, id conversation.ID, tail *conversation.IncompleteTurn) *problem.Error {
	f := repo.IncompleteFailure(id, tail)
	if q := r.States().AsksFor(ctx, id, delegationsIn(tail), repo.MaxLevels); q != nil {
		f.Details = append(f.Details, fmt.Sprintf("Waiting for input: %s — %q", safetext.Clean(q.Tools), problem.OneLine(q.Inquiry.Text)))
	}
	return f
}
