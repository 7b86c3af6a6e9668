package agent

import (
	"context"
	"errors"
	"fmt"

	"jp/agent/problem"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/importer"
	"jp/internal/safetext"
)

// adopt asks the user whether a fork of an imported conversation becomes theirs, and makes it the target. Any
// other conversation stays the target. Without a user to ask, so does this one.
func (t *target) adopt(ctx context.Context) error {
	if t.fresh || t.forked != nil || t.run.opts.unrecorded() || t.run.delegation != nil {
		return nil
	}
	info, err := t.run.repo.Store.Info(ctx, t.id)
	if err != nil || info.Tip == nil {
		return nil // loading reports the reason
	}
	origin, imported := importer.OriginOf(info.Summary.Labels)
	if !imported {
		return nil
	}
	standing, err := t.run.repo.Store.Standing(ctx, t.id, info.Head, []*conversation.Event{info.Tip})
	if err != nil || standing != conversation.StandingForeign {
		return err
	}
	if t.run.findUser(); t.res.user == nil {
		return nil
	}
	key, err := t.res.user.Decide(ctx, UserDecision{
		Text: fmt.Sprintf("Conversation %s was imported from %s. Nothing in it was done by jp.\n", t.id.Short(), safetext.Show(origin.Words())),
		Choices: []UserChoice{
			{'a', "adopt it: go on in a fork that is yours"},
			{'q', "quit, change nothing"},
		},
		List: true,
	})
	switch {
	case errors.Is(err, ErrUserLeft), errors.Is(err, ErrUserSilent), err == nil && key != 'a':
		return problem.Unchanged(problem.ExitDecision, "untrusted").About(t.id)
	case err != nil:
		return err
	}
	v, err := fork.ForkCut{}.View(ctx, t.run.repo, string(t.id))
	if err != nil {
		return err
	}
	f, err := fork.New(v, fork.ForkCut{})
	if err != nil {
		return err
	}
	place, err := snapshot.Here(ctx, t.run.repo)
	if err != nil {
		return err
	}
	f.Adopts = true
	if err := f.Create(ctx, place); err != nil {
		return err
	}
	t.run.env.Note("Adopted %s as %s.", t.id.Short(), f.ID)
	t.id = f.ID
	return t.remember()
}
