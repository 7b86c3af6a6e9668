package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/internal/lazy"
	"jp/internal/safetext"
)

// ForkAtEnd is what --fork without a value means.
const ForkAtEnd = "newest"

// eventWord is a text that could be meant as the event to fork at.
var eventWord = lazy.Regexp(`^(@.*|-?\d+|turn:\d+)$`)

// CheckFork refuses a text that was meant as the value of --fork.
func (o Request) CheckFork() error {
	if o.Fork != ForkAtEnd || len(o.Text) == 0 || !eventWord().MatchString(o.Text[0]) {
		return nil
	}
	event, rest := strings.TrimPrefix(o.Text[0], "@"), `"…"`
	if len(o.Text) > 1 {
		rest = `"` + safetext.Show(strings.Join(o.Text[1:], " ")) + `"`
	}
	return problem.Usage("%s after --fork would be part of the text.", safetext.Show(o.Text[0])).
		Hint("jp query --fork="+event+" "+rest, "fork at that event").
		Hint(`jp query --fork="" -- `+safetext.Show(strings.Join(o.Text, " ")), "fork at the newest event, and ask this")
}

// targetFork makes the fork to ask in. What would keep it from being asked in is
// said of the source, before there is a fork.
func (q *query) targetFork(ctx context.Context) error {
	var cut fork.ForkCut
	if q.opts.Fork != ForkAtEnd {
		cut.Until = q.opts.Fork
	}
	v, err := cut.View(ctx, q.repo, q.opts.ID)
	if err != nil {
		return err
	}
	f, err := fork.New(v, cut)
	if err != nil {
		return err
	}
	if s := f.SourceStanding(); s != conversation.StandingOwn {
		return problem.New(problem.ExitDecision, "untrusted", "Conversation %s %s; it can be read, not continued.", v.Name(), q.repo.Standings().StandingWords(s, q.repo.Standings().Elsewhere(f.Kept))).About(v.ID).
			Hint(fmt.Sprintf("jp fork %s@%d --adopt -a", v.Name(), f.At.Seq), "make a fork of it that is yours")
	}
	if err := q.forkDecided(f); err != nil {
		return err
	}
	place, err := snapshot.Here(ctx, q.repo)
	if err != nil {
		return err
	}
	if err := f.Create(ctx, place); err != nil {
		return err
	}
	q.id, q.forked = f.ID, f
	return nil
}

// forkDecided refuses to fork inside a turn where nobody can say what becomes of
// it.
func (q *query) forkDecided(f *fork.Fork) error {
	_, tail := conversation.Split(f.Kept)
	if tail == nil || tail.Empty() || q.opts.decision() != undecided || q.repeats() && tail.Status() == conversation.StatusResponse {
		return nil
	}
	if q.findUser(); q.user != nil {
		return nil
	}
	e := repo.IncompleteFailure(f.View.ID, tail)
	e.Hints = nil
	e.Message = fmt.Sprintf("Turn %d of %s is incomplete at @%d, and would be in the fork.", tail.Number, f.View.Name(), f.At.Seq)
	command := fmt.Sprintf("jp query --fork=%d --id=%s ", f.At.Seq, f.View.Name())
	return e.Hint(command+"--continue-turn", "fork, and go on with the turn").Hint(command+`--discard-turn "…"`, "fork, and ask this instead")
}

// takeBackFork removes the fork if nothing came to be in it. The error with which
// the query ended is then about the source.
func (q *query) takeBackFork(ctx context.Context, ended error) error {
	head, err := q.repo.Store.Head(ctx, q.id)
	if err != nil || head != q.forked.Head {
		return ended // somebody goes on with it
	}
	if err := q.repo.Store.Delete(ctx, q.id, head); err != nil {
		return errors.Join(ended, fmt.Errorf("take back the fork %s, in which nothing was asked: %w", q.id, err))
	}
	var f *problem.Error
	if errors.As(ended, &f) && f.Conversation == q.id {
		f.Conversation = q.forked.View.ID
	}
	return ended
}
