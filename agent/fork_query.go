package agent

import (
	"context"
	"errors"
	"fmt"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/internal/action"
)

// findFork makes the fork to ask in. It checks the source for obstacles first, so that the error names the
// source.
func (t *target) findFork(ctx context.Context) error {
	var cut fork.ForkCut
	if t.run.opts.Target.Fork != ForkAtEnd {
		cut.Until = t.run.opts.Target.Fork
	}
	v, err := cut.View(ctx, t.run.repo, t.run.opts.Target.ID)
	if err != nil {
		return err
	}
	f, err := fork.New(v, cut)
	if err != nil {
		return err
	}
	if s := f.SourceStanding(); s != conversation.StandingOwn {
		return problem.New(problem.ExitDecision, "untrusted", "Conversation %s %s; it can be read, not continued.", v.Name(), t.run.repo.Standings().StandingWords(s, t.run.repo.Standings().Elsewhere(f.Kept))).About(v.ID).
			Hint(action.AdoptAt(v.Name(), problem.Itoa(f.At.Seq)), "make a fork of it that is yours")
	}
	if err := t.run.forkDecided(f); err != nil {
		return err
	}
	place, err := snapshot.Here(ctx, t.run.repo)
	if err != nil {
		return err
	}
	if err := f.Create(ctx, place); err != nil {
		return err
	}
	t.id, t.forked = f.ID, f
	return nil
}

// forkDecided refuses to fork inside a turn if no user can decide about it.
func (r *run) forkDecided(f *fork.Fork) error {
	_, tail := conversation.SplitTail(f.Kept)
	if tail == nil || tail.Empty() || r.opts.decision() != undecided || r.repeats() && tail.Status() == conversation.StatusResponse {
		return nil
	}
	if r.findUser(); r.res.user != nil {
		return nil
	}
	e := repo.IncompleteFailure(f.View.ID, tail)
	e.Hints = nil
	e.Message = fmt.Sprintf("Turn %d of %s is incomplete at @%d, and would be in the fork.", tail.Number, f.View.Name(), f.At.Seq)
	return e.Hint(action.ForkAndContinue(problem.Itoa(f.At.Seq), f.View.Name()), "fork, and go on with the turn").Hint(action.ForkAndDiscard(problem.Itoa(f.At.Seq), f.View.Name()), "fork, and ask this instead")
}

// dropFork removes the fork if it stayed empty. The error of the run is then about the source.
func (t *target) dropFork(ctx context.Context, ended error) error {
	head, err := t.run.repo.Store.Head(ctx, t.id)
	if err != nil || head != t.forked.Head {
		return ended // another turn goes on with it
	}
	if err := t.run.repo.Store.Delete(ctx, t.id, head); err != nil {
		return errors.Join(ended, fmt.Errorf("take back the fork %s, in which nothing was asked: %w", t.id, err))
	}
	var f *problem.Error
	if errors.As(ended, &f) && f.Conversation == t.id {
		f.Conversation = t.forked.View.ID
	}
	return ended
}
