package agent

import (
	"context"

	"jp/agent/action"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/process"
)

// lock takes the conversation for this process, or fails with a
// *process.LockedError.
func (t *target) lock() error {
	holder := process.Holder{
		PID: repo.PID(), Start: process.StartOf(repo.PID()), Started: t.env.Now().UTC(), Session: t.repo.Session(t.env).Name, Detached: t.background != nil,
	}
	if t.background != nil {
		held, err := t.repo.Locks.TakeOver(t.id, t.background.Lock, holder)
		t.held = held
		return err
	}
	held, err := t.repo.Locks.Take(t.id, holder)
	if repo.IsReadOnly(err) {
		return t.unwritable(err)
	}
	t.held = held
	return err
}

// locked says which process keeps this run from the conversation.
func (t *target) locked(ctx context.Context, locked *process.LockedError) *problem.Error {
	h := t.repo.Processes().Holding(ctx, locked)
	f := h.Reaching(h.Failure(t.env.Now()))
	switch {
	case t.settlesOnly():
	case h.Broken:
		f.Hint(action.AskInForkWithout(string(h.ID)), "ask in a fork, without the turn that runs")
	default:
		f.Hint(action.AskInFork(string(h.ID)), "ask in a fork")
	}
	if !t.settlesOnly() {
		f.Hint(action.AskNew, "ask in a new conversation")
		f.Hint(action.AskBeside(string(h.ID)), "ask beside it; nothing is recorded")
	}
	return h.Killing(f)
}
