package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/problem"
	"jp/agent/resume"
	"jp/conversation"
	"jp/turnloop"
)

// child is the conversation of a delegate, which has the user, policy and files of this one.
func (l *history) child(id conversation.ID) *target {
	r := *l.run.repo
	o := l.run.opts
	return newTarget(&run{
		env: l.run.env, repo: &r, front: l.run.front, out: l.run.front.Child(id), delegation: &delegation{parent: l.target.id},
		res: &resources{spent: l.res.spent, user: l.res.user, files: l.res.files},
		opts: Request{
			Resume: ResumeOptions{Continue: true, Pending: o.Resume.Pending, Anyway: o.Resume.Anyway},
			Turn:   TurnOptions{Policy: string(l.run.policy()), NonInteractive: o.Turn.NonInteractive, Yes: o.Turn.Yes, NoInstructions: o.Turn.NoInstructions, Profiles: o.Turn.Profiles, Modes: o.Turn.Modes},
			Tools:  ToolChoice{Buffers: o.Tools.Buffers},
		},
	}, id)
}

// open loads the conversation of a delegate, even before it begins.
func (t *target) open(ctx context.Context) (*history, error) {
	_, err := t.run.repo.Store.Head(ctx, t.id)
	t.fresh = errors.Is(err, conversation.ErrNotFound)
	return t.load(ctx)
}

// inChild does something in the conversation of a delegate, under its lock.
func (l *history) inChild(ctx context.Context, id conversation.ID, do func(child *history) error) error {
	t := l.child(id)
	if err := t.lock(); err != nil {
		return err
	}
	defer t.res.held.Release()
	child, err := t.open(ctx)
	if err != nil {
		return err
	}
	return do(child)
}

// awaitChildren refuses to go on while another process works in a child, or a tool of the child's earlier run
// still runs. Other obstacles of a child go to its parent's model.
func (l *history) awaitChildren(ctx context.Context, ledger *conversation.Ledger) error {
	for _, d := range resume.Delegates(ctx, l.run.repo, l.target.id, l.stream.Events(), ledger, l.run.opts.Resume.Pending == "report") {
		if d.Left || !d.Begun {
			continue
		}
		err := l.inChild(ctx, d.Child, func(child *history) error {
			if child.tail == nil {
				return nil
			}
			return newTurn(child).awaitTools(ctx, child.tail.Ledger())
		})
		if err != nil && refusal(err) == "" {
			return err
		}
	}
	return nil
}

// takeBackChildren takes back the turns of the children with open calls. It skips children whose turns are
// taken back already, in which the user has asked something since, or that work for another conversation.
func (l *history) takeBackChildren(ctx context.Context) error {
	for _, call := range l.tail.Ledger().Open() {
		id := call.Child()
		if id == "" {
			continue
		}
		err := l.inChild(ctx, id, func(child *history) error {
			switch {
			case child.worksFor() != l.target.id, child.stream.Tail().Discarded, child.stream.TurnNumber() != 1:
				return nil
			case child.tail != nil:
				return child.takeBack(ctx)
			}
			return child.recorder(nil).Discard(ctx)
		})
		if err != nil {
			return fmt.Errorf("discard the delegate's turn: %w", err)
		}
	}
	return nil
}

// A refusedTask is one that will never be resumed.
type refusedTask struct{ why string }

func (r *refusedTask) Error() string { return r.why }

// refusal is the reason why a child can never work, "" if it can, now or later.
func refusal(err error) string {
	var r *refusedTask
	var f *problem.Error
	var denied *turnloop.DeniedError
	switch {
	case errors.As(err, &r):
		return r.why
	case errors.As(err, &denied):
		return problem.OneLine(denied.Error())
	case errors.As(err, &f) && (f.Exit == problem.ExitUsage || f.Code == "untrusted" || f.Code == "damaged"):
		return strings.TrimSuffix(problem.OneLine(f.Message), ".")
	}
	return ""
}
