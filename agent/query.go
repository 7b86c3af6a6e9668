package agent

import (
	"context"
	"errors"

	"jp/agent/repo"
	"jp/turnloop"
)

// do finds the target, loads its history, settles an interrupted turn, and asks the new question.
func (r *run) do(ctx context.Context) error {
	t := newTarget(r, "")
	outcome, err := t.do(ctx)
	if repo.IsReadOnly(err) {
		err = t.unwritable(err)
	}
	r.out.Ended(t.ending(context.WithoutCancel(ctx), outcome, err))
	return err
}

func (t *target) do(ctx context.Context) (outcome turnloop.Outcome, err error) {
	defer func() {
		if t.forked != nil {
			err = t.dropFork(context.WithoutCancel(ctx), err)
		}
		t.res.close()
	}()
	if err := t.find(ctx); err != nil {
		return outcome, err
	}
	if err := t.adopt(ctx); err != nil {
		return outcome, err
	}
	if err := t.acquireLock(ctx); err != nil {
		return outcome, err
	}
	for {
		outcome, err = t.answer(ctx)
		if !errors.Is(err, errMoved) {
			return outcome, err
		}
		t.res.user.Tell("The conversation has changed since jp asked.")
		t.res.files = nil
	}
}

// answer resolves the interrupted turn, and runs the new one. It returns errMoved if the conversation has
// changed while the user was asked.
func (t *target) answer(ctx context.Context) (outcome turnloop.Outcome, err error) {
	l, err := t.load(ctx)
	if err != nil {
		return outcome, err
	}
	e := newTurn(l)
	e.delegates = children{e}
	defer func() {
		outcome = e.outcome
		e.close(err)
		if outcome.Status == turnloop.Complete {
			l.giveTitle()
		}
	}()
	i := newResumption(e)
	if done, err := i.resolve(ctx); done || err != nil {
		return outcome, err
	}
	s := newQuestion(e)
	s.discarded = i.discarded
	return outcome, s.ask(ctx)
}
