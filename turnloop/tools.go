package turnloop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"jp/conversation"
	"jp/tool"
)

// run runs calls: one that may change things alone, read-only ones side by
// side. Each result is recorded the moment it exists.
func (l *Loop) run(ctx context.Context, calls []*conversation.ToolCall) error {
	switch def := lookup(l.opts.Tools.Registry, calls[0].Request.Name); {
	case def.Resumes:
		return l.runResuming(ctx, calls[0])
	case def.Effect == tool.Changes && !onlyReads(calls[0]):
		return l.runChanging(ctx, calls[0])
	}
	return l.runReading(ctx, calls)
}

// runChanging runs a call that may change anything, between two looks at the
// files and behind a durable record of its start.
func (l *Loop) runChanging(ctx context.Context, call *conversation.ToolCall) error {
	release, err := l.tools.holdFiles(ctx)
	if cancelledByUser(err) && ctx.Err() == nil {
		return l.build(ctx, l.stream.CurrentTurn().AddToolCallResponse(conversation.ToolCallResponse{
			For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name,
			Content: textCancelledBefore, IsError: true, Cancelled: true,
		}, conversation.WithSubject(responseSubject(l.opts.Tools.Registry, call, "cancelled"))))
	}
	if err != nil {
		return fmt.Errorf("wait for the right to change files: %w", err)
	}
	defer release()
	if v := l.view(); !v.allows(call) { // the user allows less since it was to run
		return nil
	}
	named, only := l.opts.named(call)
	place := &CallPlace{Conversation: l.opts.Conversation.ID, Turn: call.Event.Turn, Seq: call.Event.Seq}
	before, err := l.files.look(ctx, SnapshotRequest{Named: named, Only: only, Any: only == nil, Destroys: destroys(commandOf(call)), Call: place})
	if err != nil {
		return err
	}
	if again, err := l.overtaken(ctx, call, before, named); again || err != nil {
		return err
	}
	if l.losses.withoutBackup(call, before.NoBackup) {
		return l.build(ctx, l.stream.CurrentTurn().AddToolCallResponse(conversation.ToolCallResponse{
			For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name, Content: textNoBackup + before.NoBackup, IsError: true,
		}, conversation.WithSubject(responseSubject(l.opts.Tools.Registry, call, "not run"))))
	}
	lock, unlock, err := l.tools.lock(call.Event.Seq)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.recordStart(ctx, call, before, "", named...); err != nil {
		return err
	}
	beside := only == nil && l.opts.Tools.Orphaned != nil && l.opts.Tools.Orphaned()
	done := l.tools.execute(ctx, call, "", lock, l.tools.beginning())
	done.beside = beside
	ended := done.err != nil && ctx.Err() != nil
	if ended {
		done = done.stopped()
	}
	at := requestAfter(done, before, named, only)
	at.Call = place
	after, lookErr := l.files.lookAfter(ctx, at)
	if lookErr != nil {
		after = SnapshotResult{Git: before.Git, Obeyed: after.Obeyed, LeftOut: append(after.LeftOut, conversation.SkippedPath{Path: ".", Why: lookErr.Error()})}
	}
	if q := done.result.Question; q != nil && q.Optional && (lookErr != nil || after.Tree != before.Tree || !l.opts.User.client() || askedInTurn(l.stream.Tail(), q.ID)) {
		done.result.Question = nil
	}
	if done.err == nil && done.result.Question != nil {
		if lookErr == nil && after.Tree == before.Tree {
			if err := l.recordQuestion(ctx, done); err != nil {
				return err
			}
			return l.review(ctx, &ControlFilesError{Tool: call.Request.Name, Files: after.Obeyed})
		}
		done.err = errors.New("it asked a question after it had changed files; what it did until then is not known")
	}
	if ended && !steered(ctx) {
		return &endedRun{run: done, after: after, cause: context.Cause(ctx)}
	}
	if err := l.respond(ctx, done, &after); err != nil {
		if len(after.Obeyed) > 0 { // the store may have gone with the git directory
			err = errors.Join(&ControlFilesError{Tool: call.Request.Name, Files: after.Obeyed, Since: true}, err)
		}
		return err
	}
	if err := l.review(ctx, &ControlFilesError{Tool: call.Request.Name, Files: after.Obeyed}); err != nil {
		return err
	}
	return l.afterTools(ctx, call) // the cause of the tool's end concerns the whole turn
}

// askedInTurn reports whether a tool's question of this id was asked in this turn.
func askedInTurn(ledger *conversation.Ledger, id string) bool {
	for _, call := range ledger.ToolCalls {
		for _, q := range call.Inquiries {
			if q.Request.Kind == conversation.KindToolQuestion && q.Request.QuestionID == id {
				return true
			}
		}
	}
	return false
}

// review stops the turn if a tool changed files that say what git runs, unless a person lets it go on: the
// next git of the user, and of the next tool, obeys them.
func (l *Loop) review(ctx context.Context, changed *ControlFilesError) error {
	if len(changed.Files) == 0 {
		return nil
	}
	var command *UserCommand
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &command) && command.Kind == CommandReply:
		// Only then is the user's message sent.
		if err := l.review(context.WithoutCancel(ctx), changed); err != nil {
			return err
		}
		return cause
	case cause != nil:
		l.opts.Observer.Noticed(changed.Error())
		return cause
	}
	if l.opts.User.Review != nil {
		if goOn, err := l.opts.User.Review(ctx, changed); goOn || err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return changed
}

// An endedRun is the error of a turn that was interrupted while a tool ran. jp ended
// the tool and saw its end, so its response is recorded together with the interruption.
type endedRun struct {
	run   finishedRun
	after SnapshotResult
	cause error
}

// Error names the cause of the interrupt.
func (e *endedRun) Error() string { return e.cause.Error() }

// Unwrap returns the cause of the interrupt.
func (e *endedRun) Unwrap() error { return e.cause }

// steered reports whether the user ended the step of the context.
func steered(ctx context.Context) bool {
	var command *UserCommand
	return ctx.Err() != nil && errors.As(context.Cause(ctx), &command)
}

// requestAfter is the request to look at the files after a tool ran.
func requestAfter(done finishedRun, before SnapshotResult, named, only []string) SnapshotRequest {
	if only != nil && done.err == nil {
		return SnapshotRequest{Since: before.Mark, Named: named, Only: append(only[:len(only):len(only)], done.result.WrittenFiles...)}
	}
	return SnapshotRequest{Since: before.Mark, Named: append(named[:len(named):len(named)], done.result.WrittenFiles...)}
}

// recordStart makes the start of the tool durable, behind earlier changes of the files. child is its own
// conversation, or "".
func (l *Loop) recordStart(ctx context.Context, call *conversation.ToolCall, before SnapshotResult, child conversation.ID, named ...string) error {
	t := l.stream.CurrentTurn()
	git := l.files.moved(before.Git)
	if outside := l.files.drift(before, named...); outside != nil {
		t.AddRecord(outside.Body, conversation.WithTree(outside.Tree, outside.Objects...), conversation.WithGit(outside.Git), conversation.WithSubject(outside.Subject))
	}
	if git == nil {
		now := before.Git
		git = &now
	}
	started := &conversation.ToolStarted{For: call.Event.Seq, Attempt: attempt(call), Child: child}
	if q := call.Edited(); q != nil {
		started.Arguments = q.Response.Arguments
	}
	if control := listedControl(before.Control); !slices.Equal(control, l.files.control) {
		started.ControlFiles = control
	}
	subject := "start " + line(call.Request.Name, subjectOf(l.opts.Tools.Registry, call.Request.Name, call.Arguments()))
	t.AddRecord(started, conversation.WithGit(git), conversation.WithSubject(subject))
	if err := l.build(ctx, t); err != nil {
		return err
	}
	delete(l.again, call.Event.Seq)
	return nil
}

// overtaken records changes by others since a person allowed the call, if they touch a file of the call. The
// call then does not start, and jp asks again.
func (l *Loop) overtaken(ctx context.Context, call *conversation.ToolCall, before SnapshotResult, named []string) (bool, error) {
	def := lookup(l.opts.Tools.Registry, call.Request.Name)
	q := l.approvals.binding(def, call)
	if q == nil {
		return false, nil
	}
	about := l.opts.about(def, call)
	outside := l.files.drift(before, named...)
	if outside == nil || !touches(outside, about) {
		return l.approvals.differ(q, about), nil // while the call waited for its turn
	}
	t := l.stream.CurrentTurn()
	t.AddRecord(outside.Body, conversation.WithTree(outside.Tree, outside.Objects...), conversation.WithGit(outside.Git), conversation.WithSubject(outside.Subject))
	return true, l.build(ctx, t)
}
