package turnloop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// finish sums a complete turn up, once.
func (l *Loop) finish(ctx context.Context) (Outcome, error) {
	events := newestTurn(l.stream)
	outcome := outcomeOf(events)
	if tail := l.stream.Tail(); tail.Complete() && !tail.Discarded && !summedUp(events) {
		t := l.stream.CurrentTurn()
		if err := l.addDrift(ctx, t); err != nil {
			return outcome, err
		}
		t.AddRecord(turnDone(l.opts.Now(), events, outcome.Usage))
		if err := l.build(ctx, t); err != nil {
			return outcome, err
		}
		l.hookEnd(ctx, outcome)
	}
	return outcome, nil
}

// addDrift adds what moved in the files while tools ran that were looked at for
// the files that they name only.
func (l *Loop) addDrift(ctx context.Context, t *conversation.TurnMut) error {
	sight, err := l.look(ctx, SnapshotRequest{})
	if err != nil {
		return err
	}
	if outside := l.files.drift(sight); outside != nil {
		t.AddRecord(outside.Body, conversation.WithTree(outside.Tree, outside.Objects...), conversation.WithGit(outside.Git))
	}
	return nil
}

// newestTurn are the events of the newest turn.
func newestTurn(stream *conversation.Stream) []*conversation.Event {
	var last []*conversation.Event
	for t := range conversation.Turns(stream.Events()) {
		last = t.Events
	}
	return last
}

func summedUp(events []*conversation.Event) bool {
	return slices.ContainsFunc(events, func(e *conversation.Event) bool { return e.Type() == conversation.TypeTurnDone })
}

func turnDone(now time.Time, events []*conversation.Event, usage conversation.Usage) *conversation.TurnDone {
	done := &conversation.TurnDone{
		Input: usage.Input, Output: usage.Output, CostUSD: usage.CostUSD,
		DurationMS: now.Sub(events[0].Time).Milliseconds(),
		Calls:      len(conversation.LedgerOf(events).Calls),
	}
	done.Files = filesChanged(events)
	done.Files = done.Files[:fitting(done.Files, func(p string) string { return p })]
	return done
}

// filesChanged are the files that a turn's tools changed, in order.
func filesChanged(events []*conversation.Event) []string {
	files := map[string]bool{}
	for _, e := range events {
		if b, ok := e.Body.(*conversation.ToolCallResponse); ok {
			for _, c := range b.Changed {
				files[c.Path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// outcomeOf reads off a turn's events what it came to.
func outcomeOf(events []*conversation.Event) Outcome {
	o := Outcome{Status: Complete}
	ledger := conversation.LedgerOf(events)
	for _, e := range events {
		o.Turn = e.Turn
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			o.spend(b.Usage)
		case *conversation.ToolCallRequest:
			o.spend(b.Usage)
		case *conversation.InquiryResponse:
			o.spend(b.Usage)
		case *conversation.ToolCallResponse:
			o.spend(b.Usage)
		case *conversation.TurnStopped:
			o.Status, o.By = Stopped, b.By
		}
	}
	if o.By == conversation.ByLimit {
		o.Failing = failing(ledger)
	}
	call := ledger.LastCall()
	if call == nil {
		return o
	}
	o.Message, o.Data = said(call)
	if schema := (conversation.Turn{Events: events}).Schema(); len(schema) > 0 && call.Answer() {
		o.Data, o.Unfit = structured(schema, call)
	}
	if o.Status == Complete {
		switch {
		case call.Finish.Refused():
			o.Status = Refused
		case call.Finish.Cut():
			o.Status, o.ContextFull = Length, call.Finish == conversation.FinishContext
		}
	}
	ended := o.Status == Complete || o.Status == Length
	o.Empty = ended && call.Answer() && o.Message == "" && len(o.Data) == 0 && o.Unfit == nil
	return o
}

// said is the text and the data of a call.
func said(call *conversation.ModelCall) (message string, data []byte) {
	var texts []string
	for _, e := range call.Events {
		b, ok := e.Body.(*conversation.ChatResponse)
		switch {
		case !ok || strings.TrimSpace(b.Text) == "":
		case b.Part == conversation.PartMessage:
			texts = append(texts, b.Text)
		case b.Part == conversation.PartData:
			data = []byte(b.Text)
		}
	}
	return strings.Join(texts, "\n\n"), data
}

func (o *Outcome) spend(u *conversation.Usage) {
	if u == nil {
		return
	}
	o.Usage.Input += u.Input
	o.Usage.Output += u.Output
	o.Usage.CostUSD = conversation.AddDecimals(o.Usage.CostUSD, u.CostUSD)
}

// maxCause bounds what is recorded of an error, in columns.
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
