package gitstore

import (
	"context"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// verify checks the events up to a head, and counts them. repo is the repository here.
//
// It reads a whole chain twice, to hold the events of one turn at a time. Only of a damaged
// chain it holds all.
func (r *commitReader) verify(ctx context.Context, head odb.OID, repo string) (*chainCheck, error) {
	if whole, err := r.chainTo(ctx, head); err == nil {
		c := &chainCheck{commits: r, repo: repo}
		if c.readForward(ctx, whole) == nil {
			return c.done(), ctx.Err()
		}
	}
	c := &chainCheck{commits: r, repo: repo}
	links, err := r.load(ctx, r.walk(head))
	var damage *DamageError
	switch {
	case errors.As(err, &damage):
		c.verdict.Problems = append(c.verdict.Problems, conversation.Problem{Commit: damage.Commit, Seq: damage.Seq, Text: damage.Err.Error()})
	case err != nil:
		return c, fmt.Errorf("verify the events up to %.10s: %w", head, err)
	}
	for i, l := range links {
		if ctx.Err() != nil {
			break
		}
		c.next(l, i == len(links)-1)
	}
	return c.done(), nil
}

// A chainCheck checks events one by one, oldest first.
type chainCheck struct {
	commits *commitReader
	repo    string
	verdict conversation.Verdict
	// kept are the events that the rest of a check asks about: those of the newest turn, and
	// of those before the ones that have payload or say where the conversation comes from,
	// without their texts.
	kept []*conversation.Event
	turn int // the index of the newest turn in kept

	audit             conversation.Auditor
	summary           conversation.Summary
	tree              string
	newer             bool // a newer jp may have other rules
	noted, configured bool // in the newest turn
}

// readForward checks a whole chain, and fails for any other.
func (c *chainCheck) readForward(ctx context.Context, whole chain) error {
	above := odb.OID("")
	return forward(ctx, c.commits, whole, func(o stored) linked {
		l, err := c.commits.parse(c.commits.checkName(o))
		return linked{l, err}
	}, func(i int, l linked) error {
		if l.err != nil {
			return l.err
		}
		if l.seq != i || i > 0 && l.parent != above {
			return errNotCached
		}
		above = l.oid
		if err := c.commits.fill(l.event); err != nil {
			return err
		}
		c.next(l.parsedCommit, i == whole.len()-1)
		return nil
	})
}

func (c *chainCheck) next(l *parsedCommit, newest bool) {
	e := l.event
	moved := e.Tree != c.tree
	c.summary, c.tree, c.newer = c.summary.Next(e), e.Tree, c.newer || e.Opaque()
	if c.verdict.Events > 0 && moved && !e.Type().ChangesFiles() {
		c.report(e, "a %s changes the files' tree", e.Type())
	}
	switch e.Type() {
	case conversation.TypeTurnStart:
		c.noted, c.configured = false, false
		c.endTurn()
	case conversation.TypeNote:
		c.noted = true
	case conversation.TypeConfigDelta, conversation.TypeForkOrigin:
		c.configured = true
	}
	// Only the newest summary is in use. An earlier version may have made those before it by other rules.
	if newest {
		c.checkSummary(l)
	}
	for _, p := range e.Payloads {
		switch _, ok, err := c.commits.payload(p); {
		case err != nil:
			c.report(e, "%v", err)
		case !ok:
			c.verdict.Absent++
		}
	}
	if err := c.commits.checkTree(e, moved); err != nil {
		c.report(e, "%v", err)
	}
	c.audit.Next(e)
	if where := conversation.ElsewhereOf([]*conversation.Event{e}, c.repo); where != "" {
		c.verdict.Elsewhere = where
	}
	c.verdict.Events++
	c.kept = append(c.kept, e)
}

// endTurn drops the events of a finished turn that the check no longer needs.
func (c *chainCheck) endTurn() {
	left := c.turn
	for _, e := range c.kept[c.turn:] {
		_, forked := e.Body.(*conversation.ForkOrigin)
		if !forked && len(e.Payloads) == 0 {
			continue
		}
		if !forked {
			e.SetText("")
			e.Provider = nil
		}
		c.kept[left] = e
		left++
	}
	clear(c.kept[left:])
	c.kept, c.turn = c.kept[:left], left
}

func (c *chainCheck) report(e *conversation.Event, format string, args ...any) {
	c.verdict.Problems = append(c.verdict.Problems, conversation.Problem{Commit: e.Commit, Seq: e.Seq, Text: fmt.Sprintf(format, args...)})
}

// checkSummary compares the summary in the newest event with the events.
func (c *chainCheck) checkSummary(l *parsedCommit) {
	stored := l.summary()
	if stored == nil || !l.event.Signed || c.newer {
		return
	}
	want := c.summary
	if c.noted { // earlier versions had other rules for the state of a waiting turn
		want.Newest, want.Status = stored.Newest, stored.Status
	}
	if c.configured { // earlier versions named the model of the turn's start
		want.Model = stored.Model
	}
	if !sameSummary(*stored, want) {
		c.report(l.event, "its summary is not what the events come to")
	}
}

// done ends the check.
func (c *chainCheck) done() *chainCheck {
	c.verdict.Local = conversation.Local(c.kept)
	c.verdict.Problems = append(c.verdict.Problems, c.audit.Problems...)
	return c
}

func sameSummary(a, b conversation.Summary) bool {
	x, errA := conversation.EncodeSummary(a)
	y, errB := conversation.EncodeSummary(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// checkTree looks whether a tree that an event is the first to have is there.
func (r *commitReader) checkTree(e *conversation.Event, first bool) error {
	if !first || gitcmd.IsEmptyTree(e.Tree) {
		return nil
	}
	kind, _, err := r.odb.ReadObject(odb.OID(e.Tree))
	switch {
	case err != nil:
		return fmt.Errorf("its tree %.10s: %w", e.Tree, storeError(err))
	case kind != "tree":
		return fmt.Errorf("its tree %.10s is a %s", e.Tree, kind)
	}
	return nil
}
