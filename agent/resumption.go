package agent

import (
	"context"
	"errors"
	"strings"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/resume"
	"jp/conversation"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
)

// A resumption settles the interrupted turn of a conversation, if it has one.
type resumption struct {
	run     *run
	res     *resources
	target  *target
	history *history
	turn    *turn

	evidence  *resume.EvidenceSource // nil until it was looked at
	plan      reconcile.Plan
	resolved  map[int]turnloop.Resolution // of calls of unknown outcome, by seq
	discarded *conversation.Event         // the question of the turn that was taken back, or nil
}

func newResumption(t *turn) *resumption {
	return &resumption{run: t.run, res: t.res, target: t.target, history: t.history, turn: t}
}

// resolve settles an incomplete turn, before the new question. It reports whether the run is then complete.
func (i *resumption) resolve(ctx context.Context) (done bool, err error) {
	if i.history.tail == nil {
		return i.run.nothingToSettle(ctx)
	}
	i.run.findUser()
	choice := i.run.opts.decision()
	if i.target.resumes {
		choice = decideResume
	}
	if choice == undecided && i.run.opts.Detach {
		return true, resume.FailureOf(ctx, i.run.repo, i.target.id, i.history.tail)
	}
	if choice == undecided && i.run.repeats() && i.history.tail.Status() == conversation.StatusResponse {
		choice = decideResume
	}
	if choice == undecided && i.run.opts.Resume.GoOn {
		goesOn, err := i.goesOn(ctx)
		if err != nil {
			return true, err
		}
		if goesOn {
			choice = decideResume
		}
	}
	if choice == undecided {
		if i.res.user == nil {
			return true, resume.FailureOf(ctx, i.run.repo, i.target.id, i.history.tail)
		}
		if choice, err = i.offer(ctx); err != nil {
			return true, err
		}
	}
	if choice == decideResume || choice == decideDiscard { // an unreadable question leaves the turn as it is
		if _, err := i.run.hasQuestion(ctx); err != nil {
			return true, err
		}
	}
	switch choice {
	case decideResume:
		if i.run.opts.Detach {
			return true, i.target.detach(ctx, nil)
		}
		return i.resume(ctx)
	case decideDiscard:
		return i.discard(ctx)
	case decideEdit:
		return i.editPending(ctx)
	}
	return true, i.target.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(i.target.id))
}

// goesOn reports whether the user's message goes on with the turn: the turn waits for the model alone, the
// place and the files are as recorded, and the message is text. If so, it queues the message.
func (i *resumption) goesOn(ctx context.Context) (bool, error) {
	in, queue := &i.run.opts.Input, i.run.opts.Turn.Queue
	switch status := i.history.tail.Status(); {
	case queue == nil || status != conversation.StatusResponse && status != conversation.StatusFollowUp,
		len(in.Attachments)+len(in.Given)+len(in.Skills) > 0, in.Prompt != nil:
		return false, nil
	}
	record := i.history.record()
	truth, err := i.truth(ctx, record)
	if err != nil || len(truth.Changed)+len(truth.Untracked)+len(reconcile.Elsewhere(record, truth)) > 0 {
		return false, err
	}
	if err := queue.Add(strings.Join(in.Text, "\n")); err != nil {
		return false, err
	}
	in.Text, in.None = nil, true
	return true, nil
}

// nothingToSettle tells the user that there is no incomplete turn, if the request was only to settle one.
func (r *run) nothingToSettle(ctx context.Context) (bool, error) {
	if r.opts.decision() == undecided || !r.opts.Input.None && !r.repeats() && r.front.CanWrite() {
		return false, nil
	}
	if has, err := r.hasQuestion(ctx); has || err != nil {
		return false, err
	}
	what := "go on with"
	if r.opts.Resume.Discard {
		what = "discard"
	}
	r.env.Note("No turn is incomplete; there is nothing to %s.", what)
	return true, nil
}

func (i *resumption) resume(ctx context.Context) (done bool, err error) {
	loop, resume, err := i.reopen(ctx)
	if err != nil {
		return true, err
	}
	if err := i.target.remember(); err != nil {
		return true, err
	}
	if err := i.turn.register(); err != nil {
		return true, err
	}
	i.showResumed()
	keptMessages{i.run, i.res.messages, i.target.id}.take(ctx)
	i.turn.outcome, err = loop.Resume(ctx, resume)
	i.history.head = loop.Head()
	if err := i.turn.verdict(context.WithoutCancel(ctx), err); err != nil {
		return true, err
	}
	has, err := i.run.hasQuestion(ctx)
	return !has, errors.Join(err, live.RemoveAnswer(i.run.repo.StateDir(), i.target.id))
}

// reopen finds out how to resume the incomplete turn, and changes nothing. It checks for obstacles in this
// order: a running tool, another place, configuration and model.
func (i *resumption) reopen(ctx context.Context) (*turnloop.Loop, turnloop.Resume, error) {
	var resume turnloop.Resume
	record := i.history.record()
	if err := i.turn.awaitTools(ctx, record.Ledger); err != nil {
		return nil, resume, err
	}
	if err := i.history.awaitChildren(ctx, record.Ledger); err != nil {
		return nil, resume, err
	}
	truth, err := i.truth(ctx, record)
	if err != nil {
		return nil, resume, err
	}
	if err := i.allowPlace(ctx, record.Last.Git, reconcile.Elsewhere(record, truth), len(truth.Changed)); err != nil {
		return nil, resume, err
	}
	loop, err := i.turn.prepare(ctx, i.unknown, i.evidence.Listing())
	if err != nil {
		return nil, resume, err
	}
	truth.Tools, i.evidence.Tools = toolsNow(i.turn.registry), i.turn.registry
	if truth.Unrecorded, err = i.evidence.WithoutSnapshot(ctx, record, truth.Tree); err != nil {
		return nil, resume, err
	}
	i.plan = reconcile.Make(record, truth, i.evidence.Named)
	i.run.opts.Resume.Anyway = i.run.opts.Resume.Anyway || len(i.plan.Elsewhere) > 0 // so do its delegates
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
	if i.run.opts.Turn.Yes {
		resume.Approved = conversation.ApproveAll()
	}
	resume.Tools = i.run.opts.Tools.None || i.history.profileTools() || len(i.run.opts.Tools.Enable)+len(i.run.opts.Tools.Disable) > 0
	delta, err := i.turn.delta()
	if delta != nil {
		resume.Records = append(resume.Records, delta)
	}
	return loop, resume, err
}

// truth is the present state of the repository for the incomplete turn.
func (i *resumption) truth(ctx context.Context, r reconcile.Record) (reconcile.RepoState, error) {
	files, err := i.run.openFiles(ctx)
	if err != nil {
		return reconcile.RepoState{}, err
	}
	i.evidence = &resume.EvidenceSource{Repo: i.run.repo, ID: i.target.id, Files: files}
	if tools, err := i.turn.namedTools(); err == nil { // else the error follows when they are needed
		i.evidence.Tools = tools
	}
	return i.evidence.Read(ctx, r, resume.Delegates(ctx, i.run.repo, i.target.id, i.history.stream.Events(), r.Ledger, i.run.opts.Resume.Pending == "report"))
}

func (i *resumption) discard(ctx context.Context) (done bool, err error) {
	question := i.history.tail.Ledger().Question()
	if err := i.tellControlFiles(ctx); err != nil {
		return true, err
	}
	if err := i.history.takeBack(ctx); err != nil {
		return true, err
	}
	i.discarded = question
	i.run.env.Note("Discarded turn %d of %s; it stays in git log.", i.history.tail.Number, i.target.id)
	has, err := i.run.hasQuestion(ctx)
	return !has && !i.run.opts.Input.NoEdit && (i.run.opts.Input.None || !i.run.front.CanWrite()), err
}

// editPending lets the user rewrite the unanswered request.
func (i *resumption) editPending(ctx context.Context) (done bool, err error) {
	pending := i.history.tail.Ledger().Request()
	was := pending.Body.(*conversation.ChatRequest)
	initial := was.Content
	if i.target.written != nil {
		initial = *i.target.written
	}
	var text []byte
	err = i.turn.unlocked(ctx, func() (err error) {
		text, err = EditText(ctx, i.run.repo, i.run.front, []byte(initial), ".md")
		return err
	})
	if errors.Is(err, errMoved) { // the next editor has the text
		written := string(text)
		i.target.written = &written
	}
	if err != nil {
		return true, err
	}
	content := strings.TrimSpace(string(text))
	if content == "" || content == strings.TrimSpace(was.Content) {
		return true, i.target.keepText(problem.Unchanged(problem.ExitDecision, "incomplete_turn").About(i.target.id))
	}
	loop := i.history.recorder(nil)
	replaced := *was
	replaced.Content = content
	if err := loop.Replace(ctx, pending, replaced); err != nil {
		return true, err
	}
	i.history.head, i.history.events = loop.Head(), i.history.stream.Events()
	_, i.history.tail = conversation.SplitTail(i.history.events)
	return i.resume(ctx)
}

// toolsNow are the tools in the form of a plan.
func toolsNow(registry *tool.Registry) map[string]reconcile.Tool {
	tools := map[string]reconcile.Tool{}
	for _, def := range registry.Definitions() {
		tools[def.Name] = reconcile.Tool{Reads: def.Effect == tool.Reads, Idempotent: def.Idempotent, Exclusive: def.Exclusive, Resumes: def.Resumes}
	}
	return tools
}

// showResumed tells the front end that the turn is resumed, unless the process that started this one has
// begun it a moment ago.
func (i *resumption) showResumed() {
	if i.run.background == nil || !i.run.background.Order.Asked {
		i.run.out.Resumed(i.plan.Words, i.history.tail)
	}
}
