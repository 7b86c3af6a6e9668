package turnloop

import (
	"context"

	"jp/conversation"
)

// runReading runs calls that only read side by side. If one cannot be recorded, the others go on.
func (l *Loop) runReading(ctx context.Context, calls []*conversation.ToolCall) error {
	results := make(chan finishedRun, len(calls))
	locks, err := l.tools.lockPrograms(calls)
	if err != nil {
		return err
	}
	for _, call := range calls[1:] { // the loop has begun the first
		l.interrupt.shown.Begin(activityOf(l.opts.Tools.Registry, call, l.interrupt.since()))
	}
	at := l.tools.beginning()
	for _, call := range calls {
		go func() { results <- l.tools.execute(ctx, call, "", locks[call].file, at) }()
	}
	var failed error
	for range calls {
		done := <-results
		var err error
		switch {
		case done.err != nil && ctx.Err() != nil: // it stays unrecorded, and runs again on a resume
			err = context.Cause(ctx)
		case done.err == nil && done.result.Refused != "":
			l.approvals.refused[done.call.Event.Seq] = done.result.Refused // and is asked about
		case done.err == nil && done.result.Question != nil:
			err = l.recordQuestion(ctx, done)
		default:
			err = l.respond(ctx, done, nil)
		}
		if err != nil && failed == nil {
			failed = err
		}
		l.interrupt.shown.Of(done.call.Event.Seq).End()
		locks[done.call].unlock()
	}
	if failed != nil {
		return failed
	}
	return l.afterTools(ctx, calls...)
}
