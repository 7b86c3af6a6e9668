package agent

import (
	"context"
	"errors"

	"jp/agent/repo"
	"jp/turnloop"
)

// do does what the request says. The run goes from stage to stage, and each knows what the ones
// before it have found: the target, its lock, what is loaded, what its turns work with, and whether
// an incomplete turn is settled. A new question is asked last.
func (r *run) do(ctx context.Context) error {
	t := &target{run: r}
	outcome, err := t.do(ctx)
	if repo.IsReadOnly(err) {
		err = t.unwritable(err)
	}
	r.out.Ended(t.ending(outcome, err))
	return err
}

func (t *target) do(ctx context.Context) (outcome turnloop.Outcome, err error) {
	defer func() {
		if t.user != nil {
			t.user.Close()
		}
		if t.forked != nil {
			err = t.dropFork(err)
		}
		t.held.Release()
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
		t.user.Tell("The conversation has changed since jp asked.")
		t.files = nil
	}
}

// answer resolves what the conversation has left, and runs the new turn. It is errMoved if the conversation has changed
// while the user was asked.
func (t *target) answer(ctx context.Context) (outcome turnloop.Outcome, err error) {
	l, err := t.load(ctx)
	if err != nil {
		return outcome, err
	}
	e := equip(l)
	defer func() {
		outcome = e.outcome
		e.close(err)
	}()
	i := &incomplete{equipped: e}
	if done, err := i.resolve(ctx); done || err != nil {
		return outcome, err
	}
	s := &ready{equipped: e, discarded: i.discarded}
	return outcome, s.ask(ctx)
}

// equip is a conversation whose turns have the tool delegate.
func equip(l *loaded) *equipped {
	e := &equipped{loaded: l}
	e.delegates = children{e}
	return e
}
