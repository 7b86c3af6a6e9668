package ui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/process/attach"
)

// followRecording shows the events of a conversation while jp records another agent in it, until the agent ends or
// the user leaves.
func (a *attachment) followRecording(ctx context.Context) error {
	e, r, id := a.env, a.repo, a.id
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	leaving := func() { leave(errLeave) }
	interrupt := func(context.Context, bool) bool { leaving(); return true }
	e.onLeave.Store(&leaving)
	e.onInterrupt.Store(&interrupt)
	defer e.onLeave.Store(nil)
	defer e.onInterrupt.Store(nil)
	if !e.Format.Structured() {
		a.printer = a.newRecord()
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var shown conversation.Head
	next := -1 // the first event that is not shown yet
	for runs := true; ; {
		head, err := r.Store.Head(ctx, id)
		if err == nil && head != shown {
			next, err = a.showRecording(ctx, head, next)
			shown = head
		}
		switch {
		case context.Cause(ctx) == errLeave: //nolint:errorlint // it is never wrapped
			return nil
		case err != nil:
			return repo.AboutConversation(err, id)
		case !runs:
			if a.printer == nil {
				a.passOn(&attach.Closing{Reason: "the agent has ended", Ended: true})
			}
			return nil
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
			runs = r.Standings().Recorder(id) != ""
		}
	}
}

// showRecording shows the events from a number on, or those that the options ask for.
func (a *attachment) showRecording(ctx context.Context, head conversation.Head, from int) (next int, err error) {
	var events []*conversation.Event
	w := attachWindow{AttachOptions: a.options, from: from}
	for e, err := range a.repo.Store.Backward(ctx, head) {
		if err != nil {
			return from, err
		}
		if next = max(next, e.Seq+1); from < 0 && a.options.After >= next {
			return from, problem.New(problem.ExitNotFound, "not_found", "%s has no event %d; its last is %d.", a.id, a.options.After, e.Seq)
		}
		if from >= 0 && e.Seq < from {
			break
		}
		if events = append(events, e); from < 0 && w.reached(e) {
			break
		}
	}
	slices.Reverse(events)
	if from < 0 {
		events = slices.DeleteFunc(events, func(e *conversation.Event) bool { return e.Seq < w.from })
	}
	a.recorded(events)
	if a.printer != nil && len(events) > 0 {
		fmt.Fprintln(a.env.Results())
	}
	return next, nil
}
