package agent

import (
	"context"
	"errors"
	"strings"

	"jp/agent/drafts"
	"jp/agent/evidence"
	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/conversation"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
)

// An incomplete conversation has, or had, a turn that was interrupted.
type incomplete struct {
	*equipped
	evidence  *evidence.Source // nil until it was looked at
	plan      reconcile.Plan
	resolved  map[int]turnloop.Resolution // of calls of unknown outcome, by seq
	discarded *conversation.Event         // the question of the turn that was taken back, nil if none was
}

// resolve deals with an incomplete turn, before anything new is asked. It
// reports whether that was all there is to do.
func (i *incomplete) resolve(ctx context.Context) (done bool, err error) {
	if i.tail == nil {
		return i.nothingToSettle(ctx)
	}
	i.findUser()
	choice := i.opts.decision()
	if i.resumes {
		choice = decideResume
	}
	if choice == undecided && i.opts.Detach {
		return true, interrupted.Failure(ctx, i.repo, i.id, i.tail)
	}
	if choice == undecided && i.repeats() && i.tail.Status() == conversation.StatusResponse {
		choice = decideResume
	}
	if choice == undecided {
		if i.user == nil {
			return true, interrupted.Failure(ctx, i.repo, i.id, i.tail)
		}
		if choice, err = i.offer(ctx); err != nil {
			return true, err
		}
	}
	if choice == decideResume || choice == decideDiscard { // what cannot be read changes nothing
		if _, err := i.hasQuestion(ctx); err != nil {
			return true, err
		}
	}
	switch choice {
	case decideResume:
		if i.opts.Detach {
			return true, i.detach(ctx, nil)
		}
		return i.resume(ctx)
	case decideDiscard:
		return i.discard(ctx)
	case decideEdit:
		return i.editPending(ctx)
	}
	return true, i.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(i.id))
}

// nothingToSettle says so where the user asked to settle a turn and nothing
// else, and no turn is incomplete.
func (r *run) nothingToSettle(ctx context.Context) (bool, error) {
	if r.opts.decision() == undecided || !r.opts.Bare && !r.repeats() && r.front.CanWrite() {
		return false, nil
	}
	if has, err := r.hasQuestion(ctx); has || err != nil {
		return false, err
	}
	what := "go on with"
	if r.opts.DiscardTurn {
		what = "discard"
	}
	r.env.Note("No turn is incomplete; there is nothing to %s.", what)
	return true, nil
}

// resume goes on with the incomplete turn.
func (i *incomplete) resume(ctx context.Context) (done bool, err error) {
	loop, resume, err := i.reopen(ctx)
	if err != nil {
		return true, err
	}
	if err := i.remember(); err != nil {
		return true, err
	}
	if err := i.register(); err != nil {
		return true, err
	}
	i.showResumed()
	i.outcome, err = loop.Resume(ctx, resume)
	i.head = loop.Head()
	if err := i.verdict(err); err != nil {
		return true, err
	}
	has, err := i.hasQuestion(ctx)
	return !has, errors.Join(err, drafts.RemoveAnswer(i.repo.StateDir(), i.id))
}

// reopen finds out how the incomplete turn can be gone on with, and changes
// nothing. What keeps it from going on is found in this order: a tool that still
// runs, another place, configuration and model.
func (i *incomplete) reopen(ctx context.Context) (*turnloop.Loop, turnloop.Resume, error) {
	var resume turnloop.Resume
	record := i.record()
	if err := i.awaitTools(ctx, record.Ledger); err != nil {
		return nil, resume, err
	}
	if err := i.awaitChildren(ctx, record.Ledger); err != nil {
		return nil, resume, err
	}
	truth, err := i.truth(ctx, record)
	if err != nil {
		return nil, resume, err
	}
	if err := i.allowPlace(ctx, record.Last.Git, reconcile.Elsewhere(record, truth), len(truth.Changed)); err != nil {
		return nil, resume, err
	}
	loop, err := i.prepare(ctx, i.unknown, i.evidence.Listing())
	if err != nil {
		return nil, resume, err
	}
	truth.Tools, i.evidence.Tools = toolsNow(i.registry), i.registry
	if truth.Unrecorded, err = i.evidence.WithoutSnapshot(ctx, record, truth.Tree); err != nil {
		return nil, resume, err
	}
	i.plan = reconcile.Make(record, truth, i.evidence.Named)
	i.opts.Anyway = i.opts.Anyway || len(i.plan.Elsewhere) > 0 // so do its delegates
	if err := i.decideUnknown(ctx); err != nil {
		return nil, resume, err
	}
	truth.Again = map[int]bool{}
	for seq, r := range i.resolved {
		if r.Again {
			truth.Again[seq] = true
		}
	}
	if len(truth.Again) > 0 {
		i.plan = reconcile.Make(record, truth, i.evidence.Named)
	}
	resume.Resumed, resume.Words = i.plan.Resumed, i.plan.Words
	if i.opts.Yes {
		resume.Approved = conversation.ApproveAll()
	}
	resume.Tools = i.opts.NoTools || i.profileTools() || len(i.opts.Tools)+len(i.opts.WithoutTools) > 0
	delta, err := i.delta()
	if delta != nil {
		resume.Records = append(resume.Records, delta)
	}
	return loop, resume, err
}

// truth is what the repository says now of the incomplete turn.
func (i *incomplete) truth(ctx context.Context, r reconcile.Record) (reconcile.RepoState, error) {
	files, err := i.openFiles(ctx)
	if err != nil {
		return reconcile.RepoState{}, err
	}
	i.evidence = &evidence.Source{Repo: i.repo, ID: i.id, Files: files}
	if tools, err := i.namedTools(); err == nil { // else it is said when they are needed
		i.evidence.Tools = tools
	}
	return i.evidence.Read(ctx, r, evidence.Delegates(ctx, i.repo, i.id, i.stream.Events(), r.Ledger, i.opts.Pending == "report"))
}

// discard takes the incomplete turn back.
func (i *incomplete) discard(ctx context.Context) (done bool, err error) {
	question := i.tail.Ledger().Question()
	if err := i.tellControlFiles(ctx); err != nil {
		return true, err
	}
	if err := i.takeBack(ctx); err != nil {
		return true, err
	}
	i.discarded = question
	i.env.Note("Discarded turn %d of %s; it stays in git log.", i.tail.Number, i.id)
	has, err := i.hasQuestion(ctx)
	return !has && !i.repeats() && (i.opts.Bare || !i.front.CanWrite()), err
}

// editPending lets the user rewrite the request that was not answered.
func (i *incomplete) editPending(ctx context.Context) (done bool, err error) {
	pending := i.tail.Ledger().Request()
	was := pending.Body.(*conversation.ChatRequest)
	text, err := EditText(ctx, i.repo, i.front, []byte(was.Content), ".md")
	if err != nil {
		return true, err
	}
	content := strings.TrimSpace(string(text))
	if content == "" || content == strings.TrimSpace(was.Content) {
		return true, i.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(i.id))
	}
	loop := i.recorder(nil)
	replaced := *was
	replaced.Content = content
	if err := loop.Replace(ctx, pending, replaced); err != nil {
		return true, err
	}
	i.head, i.events = loop.Head(), i.stream.Events()
	_, i.tail = conversation.SplitTail(i.events)
	return i.resume(ctx)
}

// toolsNow are the tools as a plan has to know them.
func toolsNow(registry *tool.Registry) map[string]reconcile.Tool {
	tools := map[string]reconcile.Tool{}
	for _, def := range registry.Definitions() {
		tools[def.Name] = reconcile.Tool{Reads: def.Effect == tool.Reads, Idempotent: def.Idempotent, Exclusive: def.Exclusive, Resumes: def.Resumes}
	}
	return tools
}

// showResumed tells the front end that the turn is gone on with, unless the process that
// started this one has begun it a moment ago.
func (i *incomplete) showResumed() {
	if i.background == nil || !i.background.Asked {
		i.out.Resumed(i.plan.Words, i.tail)
	}
}
