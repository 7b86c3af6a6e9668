package turnloop

import (
	"context"
	"os"

	"jp/conversation"
)

// A programLock says to other processes that a read-only call runs. The processes that
// its tool starts hold it, too; the file is nil for a tool that starts none.
type programLock struct {
	file   *os.File
	unlock func()
}

// runReading runs calls that only read side by side. A failure to record one
// does not end the others.
func (l *Loop) runReading(ctx context.Context, calls []*conversation.ToolCall) error {
	results := make(chan finishedRun, len(calls))
	locks, err := l.lockPrograms(calls)
	if err != nil {
		return err
	}
	for _, call := range calls[1:] { // the loop has begun the first
		l.steer.shown.Begin(activityOf(l.opts.Tools, call, l.steer.since()))
	}
	for _, call := range calls {
		go func() { results <- l.execute(ctx, call, "", locks[call].file) }()
	}
	var failed error
	for range calls {
		done := <-results
		var err error
		switch {
		case done.err != nil && ctx.Err() != nil: // it leaves no record, and runs again on a resume
			err = context.Cause(ctx)
		case done.err == nil && done.result.Question != nil:
			err = l.recordQuestion(ctx, done)
		default:
			err = l.respond(ctx, done, nil)
		}
		if err != nil && failed == nil {
			failed = err
		}
		l.steer.shown.Of(done.call.Event.Seq).End()
		locks[done.call].unlock()
	}
	if failed != nil {
		return failed
	}
	return l.afterTools(ctx, calls...)
}

// lockPrograms takes the locks of the calls, so that a program that outlives jp
// is known: all of those, or none. A call that starts no program runs without a lock,
// too: others then take it for one that has not started.
func (l *Loop) lockPrograms(calls []*conversation.ToolCall) (map[*conversation.ToolCall]programLock, error) {
	locks := make(map[*conversation.ToolCall]programLock, len(calls))
	for _, call := range calls {
		held := programLock{unlock: func() {}}
		program := lookup(l.opts.Tools, call.Request.Name).Command != nil
		file, unlock, err := l.toolLock(call.Event.Seq)
		switch {
		case err == nil && program:
			held.file, held.unlock = file, unlock
		case err == nil:
			held.unlock = unlock
		case program:
			for _, taken := range locks {
				taken.unlock()
			}
			return nil, err
		}
		locks[call] = held
	}
	return locks, nil
}
