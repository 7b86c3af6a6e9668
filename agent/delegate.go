package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/evidence"
	"jp/agent/models"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/tool/delegate"
	"jp/turnloop"
)

// children runs the conversations that work for a query's: each under its own
// lock, with the query's people, policy and files.
type children struct{ parent *query }

var _ delegate.Runner = children{}

// Run begins the child's conversation, or goes on with it.
func (c children) Run(ctx context.Context, t delegate.Task) (delegate.Report, error) {
	q := c.child(t.Child)
	if err := q.lock(); err != nil {
		return delegate.Report{}, err
	}
	defer q.held.Release()
	defer q.leave()
	q.repo.Values.Share(q.parent.id, q.id)
	defer q.repo.Values.Share(q.id, q.parent.id)
	err := q.open(ctx)
	if err == nil {
		err = q.work(ctx, t)
	}
	if why := refusal(err); why != "" {
		return q.report(why), nil
	}
	if err != nil {
		return delegate.Report{}, err
	}
	return q.reportEnd()
}

// child is a query in a child's conversation.
func (c children) child(id conversation.ID) *query {
	p := c.parent
	r := *p.repo
	q := &query{
		ctx: p.ctx, env: p.env, repo: &r, id: id, user: p.user, files: p.files, parent: p, front: p.front, out: p.front.Child(id),
		opts: Request{
			ContinueTurn: true, Policy: string(p.policy()), NonInteractive: p.opts.NonInteractive, Pending: p.opts.Pending,
			Anyway: p.opts.Anyway || len(p.plan.Elsewhere) > 0, Yes: p.opts.Yes,
		},
	}
	if p.presence != nil { // else its questions wait for nobody yet
		q.delegate = p.presence.Delegate(id)
	}
	return q
}

// open loads the child, if there is something in it.
func (q *query) open(ctx context.Context) error {
	_, err := q.repo.Store.Head(ctx, q.id)
	q.fresh = errors.Is(err, conversation.ErrNotFound)
	if !q.fresh && err != nil {
		return err
	}
	return q.load(ctx)
}

// work brings the child's turn to its end.
func (q *query) work(ctx context.Context, t delegate.Task) (err error) {
	begun := q.stream.TurnNumber() > 0
	switch {
	case begun && q.tail == nil:
		q.outcome, err = q.bookkeeper(q.files).Run(ctx)
	case begun && q.worksFor() != q.parent.id: // the parent is a fork of the one that it works for
		return &refusedTask{"it works for another conversation"}
	case t.Attempt > 1 && q.opts.Pending == "report":
		return &refusedTask{"it was interrupted, and is not gone on with"}
	case begun:
		err = q.goOn(ctx)
	case evidence.NamedElsewhere(q.parent.stream.Events(), q.id):
		return &refusedTask{"it had not begun when this conversation was forked, or is gone"}
	default:
		err = q.begin(ctx, t)
	}
	var command *turnloop.Command
	if err != nil && errors.As(context.Cause(ctx), &command) {
		return q.stop(ctx)
	}
	return err
}

// stop ends the child's turn as it stands: the user has ended what its parent
// was doing.
func (q *query) stop(ctx context.Context) (err error) {
	if q.stream.TurnNumber() == 0 {
		return &refusedTask{"the user stopped it"}
	}
	q.outcome, err = q.bookkeeper(q.files).Stop(context.WithoutCancel(ctx), conversation.ByUser)
	return err
}

// begin starts the child's only task.
func (q *query) begin(ctx context.Context, t delegate.Task) error {
	q.opts.Model = q.repo.Config.ResolveModel(cmp.Or(t.Model, q.parent.model))
	if _, err := models.OpenModel(q.ctx, q.env, q.repo, q.opts.Model); err != nil {
		return err
	}
	if q.fresh {
		if err := q.create(ctx, t); err != nil {
			return err
		}
	}
	loop, err := q.loop(ctx)
	if err != nil {
		return err
	}
	q.outcome, err = loop.Start(ctx, turnloop.Request{
		Chat: conversation.ChatRequest{Content: t.Text}, Approved: q.parent.stream.Tail().Approved,
	})
	q.head = loop.Head()
	return err
}

// create makes the child's ref, with what it is: its parent, and what differs in
// its configuration. That is one move of one ref, so that a crash leaves all of
// it or nothing under the id that is on record.
func (q *query) create(ctx context.Context, t delegate.Task) error {
	delta, err := q.parent.inheritance(t)
	if err != nil {
		return err
	}
	base, err := q.base(ctx, q.files)
	if err != nil {
		return err
	}
	works := &conversation.Event{Body: &conversation.Metadata{Parent: q.parent.id}, Tree: q.parent.stream.Last().Tree}
	commit := func(events []*conversation.Event) error {
		_, err := q.repo.Store.Create(ctx, q.id, base, events)
		return err
	}
	if err := conversation.NewStream(q.env.Now).Append(commit, works, delta); err != nil {
		return fmt.Errorf("begin %s: %w", q.id, err)
	}
	q.fresh = false
	return q.load(ctx)
}

// goOn resumes the child's turn, by the same rules as any.
func (q *query) goOn(ctx context.Context) error {
	loop, resume, err := q.reopen(ctx)
	if err != nil {
		return err
	}
	q.showResumed()
	q.outcome, err = loop.Resume(ctx, resume)
	q.head = loop.Head()
	return err
}

// leave gives the terminal's signals back to the parent.
func (q *query) leave() {
	if q.drafts != nil {
		q.drafts.Close()
	}
	q.listed.Close()
	if drafts := q.parent.drafts; drafts != nil {
		flush := drafts.Flush
		q.front.OnSuspend(flush)
	}
}

// worksFor is the conversation that this one works for, "" if it works for the
// user.
func (q *query) worksFor() conversation.ID { return evidence.WorksFor(q.stream.Events()) }

// system is what the model is told before anything else.
func (q *query) system() string {
	if q.opts.NoPersist {
		return toolset.SystemPrompt + "\n\n" + strings.TrimSpace(transientPrompt)
	}
	if q.worksFor() == "" {
		return toolset.SystemPrompt
	}
	return toolset.SystemPrompt + "\n\n" + strings.TrimSpace(delegatePrompt)
}

// delegatePrompt is what a model is told besides, that works for another one.
const delegatePrompt = `
You work on a task that another model gave you. It sees your last answer and nothing else: put into it all that was asked for.
Nobody reads what you say before that. Keep the state of your work with update_state, so that it is known if you are interrupted.`
