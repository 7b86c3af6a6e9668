package agent

import (
	"context"
	"errors"
	"strings"

	"jp/agent/drafts"
	"jp/agent/evidence"
	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
)

// A decision is what becomes of an incomplete turn.
type decision int

const (
	undecided decision = iota
	decideResume
	decideDiscard
	decideEdit
	decideQuit
)

func (o Request) decision() decision {
	switch {
	case o.ContinueTurn:
		return decideResume
	case o.DiscardTurn:
		return decideDiscard
	}
	return undecided
}

// settle deals with an incomplete turn, before anything new is asked. It
// reports whether that was all there is to do.
func (q *query) settle(ctx context.Context) (done bool, err error) {
	q.findUser()
	choice := q.opts.decision()
	if choice == undecided && q.opts.Detach {
		return true, interrupted.Failure(ctx, q.repo, q.id, q.tail)
	}
	if choice == undecided && q.repeats() && q.tail.Status() == conversation.StatusResponse {
		choice = decideResume
	}
	if choice == undecided {
		if q.user == nil {
			return true, interrupted.Failure(ctx, q.repo, q.id, q.tail)
		}
		if choice, err = q.offer(ctx); err != nil {
			return true, err
		}
	}
	if choice == decideResume || choice == decideDiscard { // what cannot be read changes nothing
		if _, err := q.hasQuestion(ctx); err != nil {
			return true, err
		}
	}
	switch choice {
	case decideResume:
		if q.opts.Detach {
			return true, q.detach(ctx, nil)
		}
		return q.resume(ctx)
	case decideDiscard:
		return q.discard(ctx)
	case decideEdit:
		return q.editPending(ctx)
	}
	return true, q.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(q.id))
}

// resume goes on with the incomplete turn.
func (q *query) resume(ctx context.Context) (done bool, err error) {
	loop, resume, err := q.reopen(ctx)
	if err != nil {
		return true, err
	}
	if err := q.visit(); err != nil {
		return true, err
	}
	if err := q.appear(); err != nil {
		return true, err
	}
	q.showResumed()
	q.outcome, err = loop.Resume(ctx, resume)
	q.head = loop.Head()
	if err := q.verdict(err); err != nil {
		return true, err
	}
	has, err := q.hasQuestion(ctx)
	return !has, errors.Join(err, drafts.RemoveAnswer(q.repo.Own(), q.id))
}

// reopen finds out how the incomplete turn can be gone on with, and changes
// nothing. What keeps it from going on is found in this order: a tool that still
// runs, another place, configuration and model.
func (q *query) reopen(ctx context.Context) (*turnloop.Loop, turnloop.Resume, error) {
	var resume turnloop.Resume
	record := q.record()
	if err := q.awaitTools(ctx, record.Ledger); err != nil {
		return nil, resume, err
	}
	if err := q.awaitChildren(ctx, record.Ledger); err != nil {
		return nil, resume, err
	}
	truth, err := q.truth(ctx, record)
	if err != nil {
		return nil, resume, err
	}
	if err := q.allowPlace(ctx, record.Last.Git, reconcile.Elsewhere(record, truth), len(truth.Changed)); err != nil {
		return nil, resume, err
	}
	loop, err := q.loop(ctx)
	if err != nil {
		return nil, resume, err
	}
	truth.Tools, q.evidence.Tools = toolsNow(q.registry), q.registry
	if truth.Unrecorded, err = q.evidence.Unrecorded(ctx, record, truth.Tree); err != nil {
		return nil, resume, err
	}
	q.plan = reconcile.Make(record, truth, q.evidence.Named)
	if err := q.decideUnknown(ctx); err != nil {
		return nil, resume, err
	}
	if truth.Again = q.again(); len(truth.Again) > 0 {
		q.plan = reconcile.Make(record, truth, q.evidence.Named)
	}
	resume.Resumed, resume.Words = q.plan.Resumed, q.plan.Words
	if q.opts.Yes {
		resume.Approved = conversation.ApproveAll()
	}
	resume.Tools = q.opts.NoTools || len(q.opts.Tools)+len(q.opts.WithoutTools) > 0
	delta, err := q.delta()
	if delta != nil {
		resume.Records = append(resume.Records, delta)
	}
	return loop, resume, err
}

// truth is what the repository says now of the incomplete turn.
func (q *query) truth(ctx context.Context, r reconcile.Record) (reconcile.Truth, error) {
	files, err := q.openFiles(ctx)
	if err != nil {
		return reconcile.Truth{}, err
	}
	q.evidence = &evidence.Source{Repo: q.repo, ID: q.id, Files: files}
	if tools, err := q.namedTools(); err == nil { // else it is said when they are needed
		q.evidence.Tools = tools
	}
	return q.evidence.Read(ctx, r, evidence.Delegates(ctx, q.repo, q.id, q.stream.Events(), r.Ledger, q.opts.Pending == "report"))
}

// record is what the events say of the incomplete turn. Its age is counted from
// what was there when jp came.
func (q *query) record() reconcile.Record {
	r := reconcile.Read(q.events, q.tail, drafts.Answer(q.repo.Own(), q.id, q.events))
	r.At, r.LeftBehind = q.stoppedAt, snapshot.LeftBehind(q.events).Paths()
	return r
}

// discard takes the incomplete turn back.
func (q *query) discard(ctx context.Context) (done bool, err error) {
	question := q.tail.Ledger().Question()
	if err := q.takeBack(ctx); err != nil {
		return true, err
	}
	q.discarded = question
	q.env.Note("Discarded turn %d of %s; it stays in git log.", q.tail.Number, q.id)
	has, err := q.hasQuestion(ctx)
	return !has && !q.repeats() && (q.opts.Bare || !q.front.CanWrite()), err
}

// takeBack ends what still lives of the incomplete turn and takes it back, behind
// those of its delegates.
func (q *query) takeBack(ctx context.Context) error {
	if err := q.takeBackChildren(ctx); err != nil {
		return err
	}
	if err := q.endTools(ctx); err != nil {
		return err
	}
	files, err := q.filesOfTurn(ctx)
	if err != nil {
		return err
	}
	loop := q.bookkeeper(files)
	if err := loop.Discard(ctx); err != nil {
		return err
	}
	q.head = loop.Head()
	q.events = q.stream.Events()
	_ = q.repo.Own().Remove(repo.DraftsFolder, snapshot.UntrackedName(q.id)) // one that stays is made anew
	return drafts.RemoveAnswer(q.repo.Own(), q.id)
}

// filesOfTurn is the working tree, if it is the one that the turn worked in; nil
// otherwise.
func (q *query) filesOfTurn(ctx context.Context) (*snapshot.Files, error) {
	f, err := q.openFiles(ctx)
	if err != nil || f.Tree == nil {
		return nil, err
	}
	here, err := f.Place(ctx)
	if err != nil {
		return nil, err
	}
	there := q.record().Place
	if !there.SameWorktree(*here) {
		return nil, nil
	}
	return f, nil
}

// endTools ends the tools of the earlier run that still live, says so, and removes
// the locks of all.
func (q *query) endTools(ctx context.Context) error {
	ended := 0
	defer func() {
		if ended > 0 { // whatever came of the others, these are gone
			q.env.Note("%s: ended %s that had outlived the process.", q.id, conversation.Count(ended, "tool"))
		}
	}()
	for _, call := range q.tail.Ledger().Open() {
		seq := call.Event.Seq
		if q.repo.Locks.ToolAlive(q.id, seq) {
			if err := q.repo.Locks.EndTool(ctx, q.id, seq); err != nil {
				return err
			}
			ended++
		}
		_, forget, err := q.repo.Locks.Tool(q.id, seq, "")
		if err != nil {
			return err
		}
		forget()
	}
	return nil
}

// bookkeeper is a loop that records decisions and runs nothing. It looks at the
// files, nil if they are not to be looked at.
func (q *query) bookkeeper(f *snapshot.Files) *turnloop.Loop {
	opts := turnloop.Options{Journal: q.repo.Store, ID: q.id, Head: q.head, Stream: q.stream, Tools: new(tool.Registry), Now: q.env.Now}
	if f != nil {
		opts.Workspace = f
	}
	return turnloop.New(opts)
}

// editPending lets the user write the request anew that was not answered.
func (q *query) editPending(ctx context.Context) (done bool, err error) {
	pending := q.tail.Ledger().Request()
	was := pending.Body.(*conversation.ChatRequest)
	text, err := EditText(ctx, q.repo, q.front, []byte(was.Content), ".md")
	if err != nil {
		return true, err
	}
	content := strings.TrimSpace(string(text))
	if content == "" || content == strings.TrimSpace(was.Content) {
		return true, q.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(q.id))
	}
	loop := q.bookkeeper(nil)
	replaced := *was
	replaced.Content = content
	if err := loop.Replace(ctx, pending, replaced); err != nil {
		return true, err
	}
	q.head, q.events = loop.Head(), q.stream.Events()
	_, q.tail = conversation.Split(q.events)
	return q.resume(ctx)
}

// choiceError is how a question to the user that got no answer ends jp. What the user
// asked on the command line is kept.
func (q *query) choiceError(err error) error {
	var signal *turnloop.Interrupt
	switch {
	case errors.Is(err, ErrUserGone):
		return q.keepText(problem.New(problem.ExitDecision, "incomplete_turn", "the terminal is gone; nothing was changed."))
	case errors.As(err, &signal): // a terminal that goes away sends one, which may be seen first
		return q.keepText(repo.Interrupted(signal))
	}
	return err
}

// toolsNow are the tools as a plan has to know them.
func toolsNow(registry *tool.Registry) map[string]reconcile.Tool {
	tools := map[string]reconcile.Tool{}
	for _, def := range registry.Definitions() {
		tools[def.Name] = reconcile.Tool{Reads: def.Effect == tool.Reads, Idempotent: def.Idempotent, Exclusive: def.Exclusive, Resumes: def.Resumes}
	}
	return tools
}
