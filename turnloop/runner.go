package turnloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"jp/conversation"
	"jp/tool"
)

// errToolTimeout ends a tool that took longer than it may.
var errToolTimeout = errors.New("the tool's time is up")

// A toolRunner runs the tools of one conversation. It takes their locks, restores secrets
// in their arguments, and ends them in time. Recording is left to the loop.
type toolRunner struct {
	opts      *Options
	stream    *conversation.Stream
	approvals *approvals
	steer     *interrupt
}

// A finishedRun is a tool run with a result.
type finishedRun struct {
	call   *conversation.ToolCall
	def    *tool.Definition
	result tool.Result
	err    error // the tool could not run, or was ended
	took   time.Duration

	cancelled bool // by the user
	idle      bool // it did nothing, by its own account
	beside    bool // another run's tool ran, too, and may have changed any file
}

// stopped is a run that ended with its turn. jp saw its end, so the changes of the files are its doing.
func (f finishedRun) stopped() finishedRun {
	content := []byte(textCancelled)
	if f.idle {
		content = []byte(textCancelledBefore)
	}
	if len(f.result.Content) > 0 {
		content = fmt.Appendf(content, " Its output until then:\n%s", f.result.Content)
	}
	f.result = tool.Result{Content: content, IsError: true, Truncated: f.result.Truncated, WrittenFiles: f.result.WrittenFiles}
	f.err, f.cancelled = nil, true
	return f
}

// notRun is a run that did nothing: its tool could not be prepared, or the call ended before it was sent.
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

// A programLock says to other processes that a read-only call runs. The processes that
// its tool starts hold it, too; the file is nil for other tools.
type programLock struct {
	file   *os.File
	unlock func()
}

// holdFiles waits for the right to change files. The user may cancel the call
// meanwhile.
func (r *toolRunner) holdFiles(ctx context.Context) (release func(), err error) {
	if r.opts.Files.Hold == nil {
		return func() {}, nil
	}
	ctx, end := r.steer.beginTool(ctx)
	defer end()
	r.steer.waits(true, r.opts.Clock.Now())
	defer func() { r.steer.waits(false, r.opts.Clock.Now()) }()
	if release, err = r.opts.Files.Hold(ctx); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return release, err
}

func (r *toolRunner) lock(seq int) (*os.File, func(), error) {
	if r.opts.Tools.Lock == nil {
		return nil, func() {}, nil
	}
	f, done, err := r.opts.Tools.Lock(seq)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the tool of event %d: %w", seq, err)
	}
	return f, done, nil
}

// lockPrograms takes the locks of all the calls, or of none, so that a program that outlives jp is known. A
// call that starts no program runs without a lock, too: other processes then see it as not started.
func (r *toolRunner) lockPrograms(calls []*conversation.ToolCall) (map[*conversation.ToolCall]programLock, error) {
	locks := make(map[*conversation.ToolCall]programLock, len(calls))
	for _, call := range calls {
		held := programLock{unlock: func() {}}
		def := lookup(r.opts.Tools.Registry, call.Request.Name)
		program := def.Command != nil || def.Argv
		file, unlock, err := r.lock(call.Event.Seq)
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

// A beginning is the state of the turn's events at the start of a tool run.
type beginning struct {
	events []*conversation.Event
	budget int // of tokens; 0: unlimited
}

// beginning is for runs that begin now. Only the loop's own goroutine may call it, since
// that adds to the events.
func (r *toolRunner) beginning() beginning {
	return beginning{r.stream.Events(), r.opts.Limits.budget(r.stream)}
}

// execute runs a tool once, within its time, in any goroutine. child is its own conversation, or "".
func (r *toolRunner) execute(ctx context.Context, call *conversation.ToolCall, child conversation.ID, lock *os.File, at beginning) finishedRun {
	t, _ := r.opts.Tools.Registry.Lookup(call.Request.Name)
	done := finishedRun{call: call, def: t.Definition()}
	if ctx.Err() != nil {
		done.err = context.Cause(ctx)
		return done
	}
	arguments, answers, err := r.opts.inputs(done.def, call)
	if err != nil {
		done.err = err
		return done
	}
	for _, id := range r.approvals.covered(done.def, call) {
		if _, answered := answers[id]; !answered {
			answers[id] = json.RawMessage("true")
		}
	}
	ctx, end := r.steer.beginTool(ctx)
	defer end()
	if done.err = prepareSafely(ctx, t); done.err != nil {
		return done.notRun(context.Cause(ctx))
	}
	limit := r.opts.Limits.timeLimit(done.def)
	if limit > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errToolTimeout)
		defer cancel()
	}
	shown := r.steer.shown.Of(call.Event.Seq)
	run := tool.Call{
		Conversation: r.opts.Conversation.ID, Seq: call.Event.Seq, Arguments: arguments, Answers: answers,
		Attempt: attempt(call), Child: child, Budget: at.budget, Lock: lock, OnlyReads: onlyReads(call), Network: withNetwork(call),
		Room: r.opts.Limits.ToolOutput, Event: readable(at.events, r.opts.Conversation.Journal.Payload),
	}
	if shown != nil {
		run.Output, run.Progress = shown, shown.Progress
	}
	began := r.opts.Clock.Now()
	done.result, done.err = runSafely(ctx, t, run)
	shown.Silence()
	done.took = r.opts.Clock.Now().Sub(began)
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

// withNetwork reports whether a person let a call use the network.
func withNetwork(call *conversation.ToolCall) bool {
	q := call.Permission()
	return q != nil && q.Response != nil && q.Response.By == conversation.ByUser && q.Response.Choice() == conversation.AnswerRunNetwork ||
		string(call.Answers()[tool.QuestionNetwork]) == "true"
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

// runSafely makes an error of a tool's panic, so that jp goes on.
func runSafely(ctx context.Context, t tool.Tool, call tool.Call) (result tool.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = tool.Result{}, fmt.Errorf("it has a defect: %v; what it did until then is not known", r)
		}
	}()
	return t.Run(ctx, call)
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

// cancelledByUser reports whether the user ended a tool alone, without the turn.
func cancelledByUser(err error) bool {
	var command *UserCommand
	return errors.As(err, &command) && command.Kind == CommandCancelTool
}

// textCancelledBefore is the result of a call that the user cancelled in time.
const textCancelledBefore = "Not run: the user cancelled it before it started."

// The messages to the model about calls that are closed from outside.
const (
	textInterrupted = "Not run: the user interrupted."
	textCancelled   = "Cancelled after it had started: check before repeating."
)
