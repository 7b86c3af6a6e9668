package gitstore

import (
	"context"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// verify checks the events up to a head, and counts them.
func (r *commitReader) verify(ctx context.Context, head odb.OID) (v conversation.Verdict, events []*conversation.Event, err error) {
	links, err := r.load(ctx, r.walk(head))
	var damage *DamageError
	switch {
	case errors.As(err, &damage):
		v.Problems = append(v.Problems, conversation.Problem{Commit: damage.Commit, Seq: damage.Seq, Text: damage.Err.Error()})
	case err != nil:
		return v, nil, fmt.Errorf("verify the events up to %.10s: %w", head, err)
	}
	events = make([]*conversation.Event, len(links))
	for i, l := range links {
		events[i] = l.event
	}
	problems, absent := r.checkEvents(ctx, links)
	v.Events, v.Absent, v.Local = len(links), absent, conversation.Local(events)
	v.Problems = append(append(v.Problems, problems...), conversation.Audit(events)...)
	return v, events, nil
}

// checkEvents checks the events and counts payloads that are not here.
func (r *commitReader) checkEvents(ctx context.Context, links []*parsedCommit) (problems []conversation.Problem, absent int) {
	report := func(e *conversation.Event, format string, args ...any) {
		problems = append(problems, conversation.Problem{Commit: e.Commit, Seq: e.Seq, Text: fmt.Sprintf(format, args...)})
	}
	sum, tree, newer := conversation.Summary{}, "", false // newer: what a newer jp wrote may count differently
	var noted, configured bool                            // in the newest turn
	for i, l := range links {
		if ctx.Err() != nil {
			return problems, absent
		}
		e, moved := l.event, l.event.Tree != tree
		sum, tree, newer = sum.Next(e), e.Tree, newer || e.Opaque()
		if i > 0 && moved && !e.Type().ChangesFiles() {
			report(e, "a %s changes the files' tree", e.Type())
		}
		switch e.Type() {
		case conversation.TypeTurnStart:
			noted, configured = false, false
		case conversation.TypeNote:
			noted = true
		case conversation.TypeConfigDelta:
			configured = true
		}
		// Only the newest summary is in use. An earlier version may have made those before it by other rules.
		if stored := l.summary(); i == len(links)-1 && stored != nil && e.Signed && !newer {
			want := sum
			if noted { // earlier versions had other rules for what the turn waits for then
				want.Newest, want.Status = stored.Newest, stored.Status
			}
			if configured { // the first versions named the model of the turn's start
				want.Model = stored.Model
			}
			if !sameSummary(*stored, want) {
				report(e, "its summary is not what the events come to")
			}
		}
		for _, p := range e.Payloads {
			switch _, ok, err := r.payload(p); {
			case err != nil:
				report(e, "%v", err)
			case !ok:
				absent++
			}
		}
		if err := r.checkTree(e, moved); err != nil {
			report(e, "%v", err)
		}
	}
	return problems, absent
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
