package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/internal/lazy"
	"jp/internal/safetext"
)

// forkAtEnd is what --fork without a value means.
const forkAtEnd = "newest"

// eventWord is a text that could be meant as the event to fork at.
var eventWord = lazy.Regexp(`^(@.*|-?\d+|turn:\d+)$`)

// checkFork refuses a text that was meant as the value of --fork.
func (o queryOptions) checkFork() error {
	if o.fork != forkAtEnd || len(o.text) == 0 || !eventWord().MatchString(o.text[0]) {
		return nil
	}
	event, rest := strings.TrimPrefix(o.text[0], "@"), `"…"`
	if len(o.text) > 1 {
		rest = `"` + safetext.Show(strings.Join(o.text[1:], " ")) + `"`
	}
	return usage("%s after --fork would be part of the text.", safetext.Show(o.text[0])).
		hint("jp query --fork="+event+" "+rest, "fork at that event").
		hint(`jp query --fork="" -- `+safetext.Show(strings.Join(o.text, " ")), "fork at the newest event, and ask this")
}

// targetFork makes the fork to ask in. What would keep it from being asked in is
// said of the source, before there is a fork.
func (q *query) targetFork(ctx context.Context) error {
	var cut forkCut
	if q.opts.fork != forkAtEnd {
		cut.until = q.opts.fork
	}
	v, err := cut.view(ctx, q.repo, q.opts.id)
	if err != nil {
		return err
	}
	f, err := newFork(v, cut)
	if err != nil {
		return err
	}
	if s := f.sourceStanding(); s != conversation.StandingOwn {
		return fail(exitDecision, "untrusted", "Conversation %s %s; it can be read, not continued.", v.name(), q.repo.standings().standingWords(s, q.repo.standings().elsewhere(f.kept))).about(v.id).
			hint(fmt.Sprintf("jp fork %s@%d --adopt -a", v.name(), f.at.Seq), "make a fork of it that is yours")
	}
	if err := q.forkDecided(f); err != nil {
		return err
	}
	place, err := q.repo.here(ctx)
	if err != nil {
		return err
	}
	if err := f.create(ctx, place); err != nil {
		return err
	}
	q.id, q.forked = f.id, f
	return nil
}

// forkDecided refuses to fork inside a turn where nobody can say what becomes of
// it.
func (q *query) forkDecided(f *fork) error {
	_, tail := conversation.Split(f.kept)
	if tail == nil || tail.Empty() || q.opts.decision() != undecided || q.repeats() && tail.Status() == conversation.StatusResponse {
		return nil
	}
	if q.findUser(); q.user != nil {
		return nil
	}
	e := incompleteFailure(f.view.id, tail)
	e.hints = nil
	e.message = fmt.Sprintf("Turn %d of %s is incomplete at @%d, and would be in the fork.", tail.Number, f.view.name(), f.at.Seq)
	command := fmt.Sprintf("jp query --fork=%d --id=%s ", f.at.Seq, f.view.name())
	return e.hint(command+"--continue-turn", "fork, and go on with the turn").hint(command+`--discard-turn "…"`, "fork, and ask this instead")
}

// takeBackFork removes the fork if nothing came to be in it. The error with which
// the query ended is then about the source.
func (q *query) takeBackFork(ctx context.Context, ended error) error {
	head, err := q.repo.store.Head(ctx, q.id)
	if err != nil || head != q.forked.head {
		return ended // somebody goes on with it
	}
	if err := q.repo.store.Delete(ctx, q.id, head); err != nil {
		return errors.Join(ended, fmt.Errorf("take back the fork %s, in which nothing was asked: %w", q.id, err))
	}
	var f *failure
	if errors.As(ended, &f) && f.conversation == q.id {
		f.conversation = q.forked.view.id
	}
	return ended
}
