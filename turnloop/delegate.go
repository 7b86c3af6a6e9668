package turnloop

import (
	"context"
	"errors"
	"fmt"

	"jp/conversation"
)

// A WaitingError is the error of a tool that resumes, if its own conversation waits for
// an answer and no user is there. The turn then waits, too.
type WaitingError struct {
	Inquiry *conversation.Inquiry
	In      conversation.ID // the conversation that the question is in
}

// Error names the question.
func (w *WaitingError) Error() string {
	return "waits for an answer: " + w.Inquiry.Request.Question.Text
}

// runResuming runs a call that works in a conversation of its own. A durable event
// names that conversation before it has events, so that a later run resumes the same
// one. The call does not hold the right to change files: the tools of the other
// conversation take it, one by one.
func (l *Loop) runResuming(ctx context.Context, call *conversation.ToolCall) error {
	before, err := l.files.look(ctx, SnapshotRequest{})
	if err != nil {
		return err
	}
	child := call.Child()
	if child == "" {
		if child, err = l.opts.Conversation.NewID(); err != nil {
			return fmt.Errorf("name the conversation of %s: %w", call.Request.Name, err)
		}
	}
	lock, unlock, err := l.tools.lock(call.Event.Seq)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.recordStart(ctx, call, before, child); err != nil {
		return err
	}
	done := l.tools.execute(ctx, call, child, lock, l.tools.beginning())
	if done.err != nil && !done.cancelled {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return done.err
	}
	if done.err == nil && done.result.Question != nil {
		done.err = errors.New("it asked a question in the place of a result")
	}
	// The call is charged with the files that it names. Changes by others are found later,
	// as theirs.
	after, err := l.files.lookAfter(ctx, requestAfter(done, before, nil, done.result.WrittenFiles[:0]))
	if err != nil {
		after = SnapshotResult{Git: before.Git, LeftOut: []conversation.SkippedPath{{Path: ".", Why: err.Error()}}}
	}
	if err := l.respond(ctx, done, &after); err != nil {
		return err
	}
	return l.afterTools(ctx, call) // the cause of the run's end may concern the whole turn
}
