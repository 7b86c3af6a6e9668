package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"jp/agent/models"
	"jp/agent/resume"
	"jp/conversation"
	"jp/tool/work"
	"jp/turnloop"
)

// children runs the conversations that work for another one: each under its own
// lock, with the user, policy and files of its parent.
type children struct{ parent *turn }

var _ work.Runner = children{}

// A child is a conversation that works for another one.
type child struct {
	run        *run
	res        *resources
	target     *target
	history    *history
	turn       *turn
	resumption *resumption
	parent     *turn
}

// Run begins the child's conversation, or goes on with it.
func (c children) Run(ctx context.Context, t work.Task) (work.Report, error) {
	parent := c.parent
	at := parent.history.child(t.Child)
	at.run.delegation.servers, at.run.delegation.presence = parent.res.servers, parent.res.presence.Delegate(t.Child)
	if err := at.lock(); err != nil {
		return work.Report{}, err
	}
	defer at.res.held.Release()
	at.run.repo.Values.Share(parent.target.id, at.id)
	defer at.run.repo.Values.Share(at.id, parent.target.id)
	l, err := at.open(ctx)
	e := newTurn(l)
	q := &child{run: l.run, res: l.res, target: at, history: l, turn: e, resumption: newResumption(e), parent: parent}
	defer func() {
		at.res.closeKeepers()
		if parent.res.drafts != nil { // the terminal's signals are the parent's again
			parent.run.front.OnSuspend(parent.res.drafts.Flush)
		}
	}()
	if err == nil {
		err = q.work(ctx, t)
	}
	if why := refusal(err); why != "" {
		return q.report(why), nil
	}
	if err != nil {
		return work.Report{}, err
	}
	return q.reportEnd()
}

func (c *child) work(ctx context.Context, t work.Task) (err error) {
	begun := c.history.stream.TurnNumber() > 0
	switch {
	case begun && c.history.tail == nil:
		c.turn.outcome, err = c.history.recorder(c.res.files).Run(ctx)
		c.res.spent.Count(c.turn.outcome.Usage.CostUSD)
	case begun && c.history.worksFor() != c.parent.target.id: // the parent is a fork of the one that it works for
		return &refusedTask{"it works for another conversation"}
	case t.Attempt > 1 && c.run.opts.Resume.Pending == "report":
		return &refusedTask{"it was interrupted, and is not gone on with"}
	case begun:
		err = c.resume(ctx)
	case resume.NamedElsewhere(c.parent.history.stream.Events(), c.target.id):
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

// stop ends the child's turn as it is, since the user has ended its parent's turn.
func (c *child) stop(ctx context.Context) (err error) {
	if c.history.stream.TurnNumber() == 0 {
		return &refusedTask{"the user stopped it"}
	}
	c.turn.outcome, err = c.history.recorder(c.res.files).Stop(context.WithoutCancel(ctx), conversation.ByUser)
	return err
}

// begin starts the child's only task.
func (c *child) begin(ctx context.Context, t work.Task) error {
	c.run.opts.Turn.Model = c.run.repo.Config.ResolveModel(cmp.Or(t.Model, c.parent.model))
	if _, err := models.OpenModel(ctx, c.run.env, c.run.repo, c.run.opts.Turn.Model); err != nil {
		return err
	}
	if c.target.fresh {
		if err := c.create(ctx, t); err != nil {
			return err
		}
	}
	loop, err := c.turn.prepare(ctx, nil, nil)
	if err != nil {
		return err
	}
	given, err := instructionsForTurn(ctx, c.turn.instructions, c.history.stream.Events(), nil, c.run.out)
	if err != nil {
		return err
	}
	c.turn.outcome, err = loop.Start(ctx, turnloop.Request{
		Chat: conversation.ChatRequest{Content: t.Text}, Approved: c.parent.history.stream.Tail().Approved, Records: given,
	})
	c.history.head = loop.Head()
	return err
}

// create makes the child's ref with its parent and its changes of the configuration. It moves one ref once,
// so that a crash leaves all of them under the recorded id, or nothing.
func (c *child) create(ctx context.Context, t work.Task) error {
	delta, err := c.parent.inheritance(t)
	if err != nil {
		return err
	}
	base, err := c.target.base(ctx, c.res.files)
	if err != nil {
		return err
	}
	works := &conversation.Event{Body: &conversation.Metadata{Parent: c.parent.target.id}, Tree: c.parent.history.stream.Last().Tree}
	commit := func(events []*conversation.Event) error {
		_, err := c.run.repo.Store.Create(ctx, c.target.id, base, events)
		return err
	}
	if err := conversation.NewStream(c.run.env.Now).Append(commit, works, delta); err != nil {
		return fmt.Errorf("begin %s: %w", c.target.id, err)
	}
	c.target.fresh = false
	begun, err := c.target.load(ctx)
	*c.history = *begun
	return err
}

// resume resumes the child's turn, by the same rules as any.
func (c *child) resume(ctx context.Context) error {
	loop, resume, err := c.resumption.reopen(ctx)
	if err != nil {
		return err
	}
	c.resumption.showResumed()
	c.turn.outcome, err = loop.Resume(ctx, resume)
	c.history.head = loop.Head()
	return err
}
