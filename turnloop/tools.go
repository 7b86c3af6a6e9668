package turnloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"jp/conversation"
	"jp/tool"
)

// errToolTimeout ends a tool that took longer than it may.
var errToolTimeout = errors.New("the tool's time is up")

// A finishedRun is a tool run with a result.
type finishedRun struct {
	call   *conversation.ToolCall
	def    *tool.Definition
	result tool.Result
	err    error // the tool could not be run, or was ended
	took   time.Duration

	cancelled bool // by the user
	idle      bool // it did nothing, in the tool's own word
	beside    bool // somebody else's tool ran, too, and may have changed any file
}

// run runs calls: one that may change things alone, read-only ones side by
// side. Each result is recorded the moment it exists.
func (l *Loop) run(ctx context.Context, calls []*conversation.ToolCall) error {
	switch def := lookup(l.opts.Tools, calls[0].Request.Name); {
	case def.Resumes:
		return l.runResuming(ctx, calls[0])
	case def.Effect == tool.Changes:
		return l.runChanging(ctx, calls[0])
	}
	return l.runReading(ctx, calls)
}

// runChanging runs a call that may change anything, between two looks at the
// files and behind a durable record of its start.
func (l *Loop) runChanging(ctx context.Context, call *conversation.ToolCall) error {
	release, err := l.holdFiles(ctx)
	if cancelledByUser(err) && ctx.Err() == nil {
		return l.build(ctx, l.stream.CurrentTurn().AddToolCallResponse(conversation.ToolCallResponse{
			For: call.Event.Seq, ID: call.Request.ID, Name: call.Request.Name,
			Content: textCancelledBefore, IsError: true, Cancelled: true,
		}, conversation.WithSubject(responseSubject(l.opts.Tools, call, "cancelled"))))
	}
	if err != nil {
		return fmt.Errorf("wait for the right to change files: %w", err)
	}
	defer release()
	named, only := l.opts.named(call)
	before, err := l.files.look(ctx, SnapshotRequest{Named: named, Only: only, Any: only == nil})
	if err != nil {
		return err
	}
	if again, err := l.overtaken(ctx, call, before); again || err != nil {
		return err
	}
	lock, unlock, err := l.toolLock(call.Event.Seq)
	if err != nil {
		return err
	}
	defer unlock()
	if err := l.recordStart(ctx, call, before, ""); err != nil {
		return err
	}
	beside := only == nil && l.opts.Outlived != nil && l.opts.Outlived()
	done := l.execute(ctx, call, "", lock)
	done.beside = beside
	ended := done.err != nil && ctx.Err() != nil
	if ended {
		done = done.stopped()
	}
	after, lookErr := l.files.lookAfter(ctx, requestAfter(done, before, named, only))
	if lookErr != nil {
		after = SnapshotResult{Git: before.Git, LeftOut: []conversation.LeftOut{{Path: ".", Why: lookErr.Error()}}}
	}
	if done.err == nil && done.result.Question != nil {
		if lookErr == nil && after.Tree == before.Tree {
			if err := l.recordQuestion(ctx, done); err != nil {
				return err
			}
			return l.review(ctx, &ObeyedError{Tool: call.Request.Name, Files: after.Obeyed})
		}
		done.err = errors.New("it asked a question after it had changed files; what it did until then is not known")
	}
	if ended && !steered(ctx) {
		return &endedRun{run: done, after: after, cause: context.Cause(ctx)}
	}
	if err := l.respond(ctx, done, &after); err != nil {
		return err
	}
	if err := l.review(ctx, &ObeyedError{Tool: call.Request.Name, Files: after.Obeyed}); err != nil {
		return err
	}
	return l.afterTools(ctx, call) // whatever ended the tool is meant for the whole turn
}

// review stops the turn where a tool changed files that say what git runs, unless a person
// lets it go on: the next git of the user, and of the next tool, obeys them.
func (l *Loop) review(ctx context.Context, changed *ObeyedError) error {
	if len(changed.Files) == 0 {
		return nil
	}
	var command *Command
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &command) && command.Kind == CommandReply:
		// What the user says is sent only after that.
		if err := l.review(context.WithoutCancel(ctx), changed); err != nil {
			return err
		}
		return cause
	case cause != nil:
		l.opts.Observer.Noticed(changed.Error())
		return cause
	}
	if l.opts.Review != nil {
		if goOn, err := l.opts.Review(ctx, changed); goOn || err != nil {
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

// Error says what interrupted the turn.
func (e *endedRun) Error() string { return e.cause.Error() }

// Unwrap gives what interrupted the turn.
func (e *endedRun) Unwrap() error { return e.cause }

// steered reports whether the user ended what the context is for.
func steered(ctx context.Context) bool {
	var command *Command
	return ctx.Err() != nil && errors.As(context.Cause(ctx), &command)
}

// stopped is a run that was ended with its turn. Its end was seen, so what moved
// in the files is its doing.
func (f finishedRun) stopped() finishedRun {
	content := []byte(textCancelled)
	if f.idle {
		content = []byte(textCancelledBefore)
	}
	if len(f.result.Content) > 0 {
		content = fmt.Appendf(content, " Its output until then:\n%s", f.result.Content)
	}
	f.result = tool.Result{Content: content, IsError: true, Truncated: f.result.Truncated, Wrote: f.result.Wrote}
	f.err, f.cancelled = nil, true
	return f
}

// holdFiles waits for the right to change files. The user may cancel the call
// meanwhile.
func (l *Loop) holdFiles(ctx context.Context) (release func(), err error) {
	if l.opts.Hold == nil {
		return func() {}, nil
	}
	ctx, end := l.steer.beginTool(ctx)
	defer end()
	l.steer.waits(true, l.opts.Now())
	defer func() { l.steer.waits(false, l.opts.Now()) }()
	if release, err = l.opts.Hold(ctx); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return release, err
}

// cancelledByUser reports whether the user ended a tool, and not the turn.
func cancelledByUser(err error) bool {
	var command *Command
	return errors.As(err, &command) && command.Kind == CommandCancelTool
}

// textCancelledBefore is the result of a call that the user cancelled in time.
const textCancelledBefore = "Not run: the user cancelled it before it started."

// requestAfter is what to look at after a tool ran.
func requestAfter(done finishedRun, before SnapshotResult, named, only []string) SnapshotRequest {
	if only != nil && done.err == nil {
		return SnapshotRequest{Since: before.Mark, Named: named, Only: append(only[:len(only):len(only)], done.result.Wrote...)}
	}
	return SnapshotRequest{Since: before.Mark, Named: append(named[:len(named):len(named)], done.result.Wrote...)}
}

// recordStart makes durable that the tool is about to run, behind what moved in
// the files before. child is the conversation that it works in, "" if in none.
func (l *Loop) recordStart(ctx context.Context, call *conversation.ToolCall, before SnapshotResult, child conversation.ID) error {
	t := l.stream.CurrentTurn()
	git := l.files.moved(before.Git)
	if outside := l.files.drift(before); outside != nil {
		t.AddRecord(outside.Body, conversation.WithTree(outside.Tree, outside.Objects...), conversation.WithGit(outside.Git))
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
	subject := "start " + line(call.Request.Name, subjectOf(l.opts.Tools, call.Request.Name, call.Arguments()))
	t.AddRecord(started, conversation.WithGit(git), conversation.WithSubject(subject))
	if err := l.build(ctx, t); err != nil {
		return err
	}
	delete(l.again, call.Event.Seq)
	return nil
}

// attempt is which run of the call comes next: the one behind its newest start
// on record, and behind each question of the tool.
func attempt(call *conversation.ToolCall) int {
	n := 1
	for _, q := range call.Inquiries {
		if q.Request.Kind == conversation.KindToolQuestion {
			n++
		}
	}
	if call.Started != nil {
		n = max(n, call.Started.Body.(*conversation.ToolStarted).Attempt+1)
	}
	return n
}

func (l *Loop) toolLock(seq int) (*os.File, func(), error) {
	if l.opts.ToolLock == nil {
		return nil, func() {}, nil
	}
	f, done, err := l.opts.ToolLock(seq)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the tool of event %d: %w", seq, err)
	}
	return f, done, nil
}

// execute runs a tool once, within its time. child is the conversation that it
// works in, "" if in none.
func (l *Loop) execute(ctx context.Context, call *conversation.ToolCall, child conversation.ID, lock *os.File) finishedRun {
	t, _ := l.opts.Tools.Lookup(call.Request.Name)
	done := finishedRun{call: call, def: t.Definition()}
	if ctx.Err() != nil {
		done.err = context.Cause(ctx)
		return done
	}
	arguments, answers, err := l.opts.inputs(done.def, call)
	if err != nil {
		done.err = err
		return done
	}
	for _, id := range l.approvals.covered(done.def, call) {
		if _, answered := answers[id]; !answered {
			answers[id] = json.RawMessage("true")
		}
	}
	ctx, end := l.steer.beginTool(ctx)
	defer end()
	if done.err = prepareSafely(ctx, t); done.err != nil {
		return done.notRun(context.Cause(ctx))
	}
	limit := l.opts.Limits.timeLimit(done.def)
	if limit > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errToolTimeout)
		defer cancel()
	}
	shown := l.steer.shown.Of(call.Event.Seq)
	run := tool.Call{
		Conversation: l.opts.ID, Seq: call.Event.Seq, Arguments: arguments, Answers: answers,
		Attempt: attempt(call), Child: child, Budget: l.opts.Limits.budget(l.stream), Lock: lock,
		Room: l.opts.Limits.ToolOutput, Event: readable(l.stream.Events(), l.opts.Journal.Payload),
	}
	if shown != nil {
		run.Output, run.Progress = shown, shown.Progress
	}
	began := l.opts.Now()
	done.result, done.err = runSafely(ctx, t, run)
	shown.Silence()
	done.took = l.opts.Now().Sub(began)
	switch cause := context.Cause(ctx); {
	case done.err == nil:
		done.cancelled = done.def.Resumes && cancelledByUser(cause)
	case errors.Is(done.err, tool.ErrNotRun):
		return done.notRun(cause)
	case cancelledByUser(cause):
		done.err, done.cancelled = errors.New("the user cancelled it; what it did until then is not known"), true
	case errors.Is(cause, errToolTimeout):
		done.err = fmt.Errorf("timed out after %s; what it did until then is not known", conversation.Ago(limit))
	}
	return done
}

// notRun is a run that did nothing: its tool could not be made ready, or the call
// ended before it was sent.
func (f finishedRun) notRun(cause error) finishedRun {
	f.idle = true
	switch {
	case cancelledByUser(cause):
		f.err, f.cancelled = errors.New("the user cancelled it before it started"), true
	case errors.Is(cause, errToolTimeout):
		f.err = errors.New("its time was up before it started")
	}
	return f
}

// prepareSafely makes a tool ready, if it has to be.
func prepareSafely(ctx context.Context, t tool.Tool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it has a defect: %v", r)
		}
	}()
	if p, is := t.(tool.Preparer); is {
		return p.Prepare(ctx)
	}
	return nil
}

// runSafely makes an error of a tool's panic, so that one tool cannot end jp.
func runSafely(ctx context.Context, t tool.Tool, call tool.Call) (result tool.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = tool.Result{}, fmt.Errorf("it has a defect: %v; what it did until then is not known", r)
		}
	}()
	return t.Run(ctx, call)
}

// overtaken records what somebody else changed since a person allowed the call, if that is a
// file which the call names. The call is then not started, and asked for again.
func (l *Loop) overtaken(ctx context.Context, call *conversation.ToolCall, before SnapshotResult) (bool, error) {
	def := lookup(l.opts.Tools, call.Request.Name)
	q := l.approvals.binding(def, call)
	if q == nil {
		return false, nil
	}
	about := l.opts.about(def, call)
	outside := l.files.drift(before)
	if outside == nil || !touches(outside, about) {
		return l.approvals.differ(q, about), nil // while the call waited for its turn
	}
	t := l.stream.CurrentTurn()
	t.AddRecord(outside.Body, conversation.WithTree(outside.Tree, outside.Objects...), conversation.WithGit(outside.Git))
	return true, l.build(ctx, t)
}
