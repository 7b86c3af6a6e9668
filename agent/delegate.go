package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"jp/agent/evidence"
	"jp/agent/models"
	"jp/conversation"
	"jp/tool/delegate"
	"jp/turnloop"
)

// children runs the conversations that work for another one: each under its own
// lock, with the user, policy and files of its parent.
type children struct{ parent *equipped }

var _ delegate.Runner = children{}

// A child is a conversation that works for another one.
type child struct {
	*incomplete
	parent *equipped
}

// Run begins the child's conversation, or goes on with it.
func (c children) Run(ctx context.Context, t delegate.Task) (delegate.Report, error) {
	parent := c.parent
	at := parent.child(t.Child)
	at.delegation.servers, at.delegation.presence = parent.servers, parent.presence.Delegate(t.Child)
	if err := at.lock(); err != nil {
		return delegate.Report{}, err
	}
	defer at.held.Release()
	at.repo.Values.Share(parent.id, at.id)
	defer at.repo.Values.Share(at.id, parent.id)
	l, err := at.open(ctx)
	q := &child{&incomplete{equipped: &equipped{loaded: l}}, parent}
	defer func() {
		q.closeKeepers()
		if parent.drafts != nil { // the terminal's signals are the parent's again
			parent.front.OnSuspend(parent.drafts.Flush)
		}
	}()
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

// work brings the child's turn to its end.
func (c *child) work(ctx context.Context, t delegate.Task) (err error) {
	begun := c.stream.TurnNumber() > 0
	switch {
	case begun && c.tail == nil:
		c.outcome, err = c.recorder(c.files).Run(ctx)
		c.spent.Count(c.outcome.Usage.CostUSD)
	case begun && c.worksFor() != c.parent.id: // the parent is a fork of the one that it works for
		return &refusedTask{"it works for another conversation"}
	case t.Attempt > 1 && c.opts.Pending == "report":
		return &refusedTask{"it was interrupted, and is not gone on with"}
	case begun:
		err = c.resume(ctx)
	case evidence.NamedElsewhere(c.parent.stream.Events(), c.id):
		return &refusedTask{"it had not begun when this conversation was forked, or is gone"}
	default:
		err = c.begin(ctx, t)
	}
	var command *turnloop.UserCommand
	if err != nil && errors.As(context.Cause(ctx), &command) {
		return c.stop(ctx)
	}
	return err
}

// stop ends the child's turn as it stands: the user has ended what its parent
// was doing.
func (c *child) stop(ctx context.Context) (err error) {
	if c.stream.TurnNumber() == 0 {
		return &refusedTask{"the user stopped it"}
	}
	c.outcome, err = c.recorder(c.files).Stop(context.WithoutCancel(ctx), conversation.ByUser)
	return err
}

// begin starts the child's only task.
func (c *child) begin(ctx context.Context, t delegate.Task) error {
	c.opts.Model = c.repo.Config.ResolveModel(cmp.Or(t.Model, c.parent.model))
	if _, err := models.OpenModel(c.ctx, c.env, c.repo, c.opts.Model); err != nil {
		return err
	}
	if c.fresh {
		if err := c.create(ctx, t); err != nil {
			return err
		}
	}
	loop, err := c.prepare(ctx, nil, nil)
	if err != nil {
		return err
	}
	given, err := instructionsForTurn(ctx, c.instructions, c.stream.Events(), nil, c.out)
	if err != nil {
		return err
	}
	c.outcome, err = loop.Start(ctx, turnloop.Request{
		Chat: conversation.ChatRequest{Content: t.Text}, Approved: c.parent.stream.Tail().Approved, Records: given,
	})
	c.head = loop.Head()
	return err
}

// create makes the child's ref, with what it is: its parent, and what differs in
// its configuration. That is one move of one ref, so that a crash leaves all of
// it or nothing under the id that is on record.
func (c *child) create(ctx context.Context, t delegate.Task) error {
	delta, err := c.parent.inheritance(t)
	if err != nil {
		return err
	}
	base, err := c.base(ctx, c.files)
	if err != nil {
		return err
	}
	works := &conversation.Event{Body: &conversation.Metadata{Parent: c.parent.id}, Tree: c.parent.stream.Last().Tree}
	commit := func(events []*conversation.Event) error {
		_, err := c.repo.Store.Create(ctx, c.id, base, events)
		return err
	}
	if err := conversation.NewStream(c.env.Now).Append(commit, works, delta); err != nil {
		return fmt.Errorf("begin %s: %w", c.id, err)
	}
	c.fresh = false
	c.loaded, err = c.load(ctx)
	return err
}

// resume resumes the child's turn, by the same rules as any.
func (c *child) resume(ctx context.Context) error {
	loop, resume, err := c.reopen(ctx)
	if err != nil {
		return err
	}
	c.showResumed()
	c.outcome, err = loop.Resume(ctx, resume)
	c.head = loop.Head()
	return err
}
