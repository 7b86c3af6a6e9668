package resume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
)

// MeetDelegates finds the state of the children of the incomplete turn. Those of a fetched conversation may
// be elsewhere.
func MeetDelegates(ctx context.Context, v *repo.View) {
	v.Working = map[int]string{}
	if v.Tail == nil || v.Remote != "" {
		return
	}
	v.Waits = StatusOf(ctx, v.Repo, v.ID, v.Tail)
	for _, call := range v.Tail.Ledger().Open() {
		v.Working[call.Event.Seq] = delegateState(ctx, v.Repo, call, CallLine(call))
	}
}

// CallWords is a tool call of the incomplete turn, on one line; running is
// whether an open one runs now.
func CallWords(v *repo.View, call *conversation.ToolCall, running bool) string {
	return cmp.Or(v.Working[call.Event.Seq], callState(call, CallLine(call), running))
}

// delegateState is an open call that has a conversation of its own, on one line: with that conversation, and
// its state. It is "" for other calls.
func delegateState(ctx context.Context, r *repo.Repo, call *conversation.ToolCall, name string) string {
	id := call.Child()
	asks := slices.ContainsFunc(call.Inquiries, (*conversation.Inquiry).Live)
	if id == "" || !call.Open() || asks {
		return ""
	}
	info, err := r.Store.Info(ctx, id)
	if errors.Is(err, conversation.ErrNotFound) || err == nil && info.Summary.Turns == 0 {
		return fmt.Sprintf("○ %s — %s has not begun", name, id)
	}
	if err != nil {
		return fmt.Sprintf("? %s — %s cannot be read", name, id)
	}
	status := r.States().List(ctx, info).Status
	mark, words := "⏸", safetext.Clean(status.Words())
	switch status.State {
	case "running":
		mark = "▶"
	case "idle":
		mark, words = "✓", "complete"
	}
	if q := status.Question; q != nil {
		words += fmt.Sprintf(": %q", problem.OneLine(tool.Asked(*q)))
	}
	return fmt.Sprintf("%s %s — %s: %s", mark, name, id, words)
}

// stateWords are a child's last words about its work, on one line, or "".
func stateWords(s *conversation.WorkState) string {
	if s == nil {
		return ""
	}
	words := conversation.Count(len(s.OpenTasks), "open task")
	if plan := problem.OneLine(s.Plan); plan != "" {
		words += ", plan: " + conversation.Shorten(plan, 60)
	}
	if len(s.Errors) > 0 {
		words += ", " + conversation.Count(len(s.Errors), "error")
	}
	return words
}

// DelegationsIn are those of an incomplete turn.
func DelegationsIn(tail *conversation.IncompleteTurn) (calls []repo.Delegation) {
	for _, call := range tail.Ledger().Open() {
		if child := call.Child(); child != "" {
			calls = append(calls, repo.Delegation{Tool: call.Request.Name, Child: child})
		}
	}
	return calls
}

// StatusOf is the state of an incomplete turn, with the question of a delegate.
func StatusOf(ctx context.Context, r *repo.Repo, id conversation.ID, tail *conversation.IncompleteTurn) conversation.Status {
	status := tail.Status()
	if status == conversation.StatusTools && r.States().AsksFor(ctx, id, DelegationsIn(tail), repo.MaxLevels) != nil {
		return conversation.StatusInput
	}
	return status
}

// FailureOf is the error of an incomplete turn, which names the question that it or its delegate waits for.
func FailureOf(ctx context.Context, r *repo.Repo, id conversation.ID, tail *conversation.IncompleteTurn) *problem.Error {
	f := repo.IncompleteFailure(id, tail)
	if q := r.States().AsksFor(ctx, id, DelegationsIn(tail), repo.MaxLevels); q != nil {
		f.Details = append(f.Details, "Waiting for input: "+repo.AskedWords(q.Tools, "", q.Inquiry.Text))
	}
	return f
}
