package agent

import (
	"context"
	"fmt"

	"jp/agent/problem"
	"jp/process"
)

// locked says which process keeps this query from the conversation.
func (q *query) locked(ctx context.Context, locked *process.LockedError) *problem.Error {
	h := q.repo.Processes().Holding(ctx, locked)
	f := h.Reaching(h.Failure(q.env.Now()))
	switch {
	case q.settlesOnly():
	case h.Broken:
		f.Hint(fmt.Sprintf(`jp query --fork --discard-turn --id=%s "…"`, h.ID), "ask in a fork, without the turn that runs")
	default:
		f.Hint(fmt.Sprintf(`jp query --fork --id=%s "…"`, h.ID), "ask in a fork")
	}
	if !q.settlesOnly() {
		f.Hint(`jp query --new "…"`, "ask in a new conversation")
		f.Hint(fmt.Sprintf(`jp query --no-persist --id=%s "…"`, h.ID), "ask beside it; nothing is recorded")
	}
	return h.Killing(f)
}

// settlesOnly reports whether the query is about what this conversation has, and
// nothing else, so that it cannot be asked elsewhere.
func (q *query) settlesOnly() bool {
	return q.opts.Bare || q.repeats() || q.opts.decision() != undecided && !q.asks()
}
