package turnloop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
)

// finish sums a complete turn up, once.
func (l *Loop) finish(ctx context.Context) (Outcome, error) {
	events := newestTurn(l.stream)
	outcome := outcomeOf(events)
	if tail := l.stream.Tail(); tail.Complete() && !tail.Discarded && !summedUp(events) {
		t := l.stream.CurrentTurn()
		sight, err := l.files.look(ctx, SnapshotRequest{})
		if err != nil {
			return outcome, err
		}
		if outside := l.files.drift(sight); outside != nil { // some tools were looked at for the files that they name only
			t.AddRecord(outside.Body, conversation.WithTree(outside.Tree, outside.Objects...), conversation.WithGit(outside.Git))
		}
		done := &conversation.TurnDone{
			Input: outcome.Usage.Input, Output: outcome.Usage.Output, CostUSD: outcome.Usage.CostUSD,
			DurationMS: l.opts.Clock.Now().Sub(events[0].Time).Milliseconds(),
			Calls:      len(conversation.LedgerOf(events).Calls),
		}
		done.Files = filesChanged(events)
		done.Files = done.Files[:fitting(done.Files, func(p string) string { return p })]
		t.AddRecord(done)
		if err := l.build(ctx, t); err != nil {
			return outcome, err
		}
		l.hookEnd(ctx, outcome)
	}
	return outcome, nil
}

// maxCause bounds the record of an error, in columns.
const maxCause = 1000

// leave ends the loop before the turn is complete. It records why, as far as
// that is possible; the turn can be resumed either way.
func (l *Loop) leave(ctx context.Context, cause error) (Outcome, error) {
	o := outcomeOf(newestTurn(l.stream))
	o.Status = Incomplete
	var journal *JournalError
	var child *WaitingError
	switch {
	case errors.Is(cause, errWaiting):
		o.Status, o.Waiting = Waiting, l.waiting
		return o, nil
	case errors.As(cause, &child):
		o.Status, o.Waiting, o.In = Waiting, child.Inquiry, child.In
		return o, nil
	case errors.As(cause, &journal):
		return o, cause
	}
	record := &conversation.TurnInterrupted{By: conversation.ByError, Phase: l.stream.Tail().Phase(), Tries: l.failed}
	var interrupt *Interrupt
	if errors.As(cause, &interrupt) || errors.As(context.Cause(ctx), &interrupt) {
		record.By, record.Signal = conversation.BySignal, interrupt.Signal
		if interrupt.Signal == "SIGINT" {
			record.By = conversation.ByUser
		}
	}
	if record.By == conversation.ByError && cause != nil {
		record.Reason = conversation.Shorten(strings.ToValidUTF8(cause.Error(), "\uFFFD"), maxCause)
	}
	l.failed = 0
	var control *ControlFilesError
	record.ControlShown = errors.As(cause, &control)
	t := l.stream.CurrentTurn()
	var ended *endedRun
	if errors.As(cause, &ended) {
		l.addResponse(t, ended.run, &ended.after)
	}
	if err := l.build(ctx, t.AddRecord(record)); err != nil {
		return o, fmt.Errorf("%w (and that could not be recorded: %w)", cause, err)
	}
	l.hookEnd(ctx, o)
	return o, cause
}
