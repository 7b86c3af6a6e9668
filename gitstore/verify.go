package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Verify checks a conversation: that every commit is an event, that trees
// change only where they may, that summaries are what the events come to, that
// payload and the ref that keeps it are what they should be, and that the events
// make sense together.
func (s *Store) Verify(ctx context.Context, id conversation.ID) (conversation.Verdict, error) {
	_, head, err := s.refs.find(id)
	if err != nil {
		return conversation.Verdict{ID: id}, err
	}
	return s.VerifyAt(ctx, conversation.Info{ID: id, Head: conversation.Head(head)})
}

// VerifyAt is Verify for a conversation whose head is known, also one that was
// fetched.
func (s *Store) VerifyAt(ctx context.Context, of conversation.Info) (conversation.Verdict, error) {
	v, events, err := s.verifyChain(ctx, of.Head)
	v.ID = of.ID
	if err != nil {
		return v, err
	}
	repo, err := s.repository(false)
	if err != nil {
		return v, err
	}
	v.Elsewhere = conversation.ElsewhereOf(events, repo)
	if !v.Local {
		v.Standing = conversation.StandingForeign
	}
	if of.Remote == "" {
		if v.Standing, err = s.Standing(ctx, of.ID, of.Head, events); err != nil {
			return v, err
		}
		v.Problems = append(v.Problems, s.checkHead(of.ID, v.Standing)...)
		v.Problems = append(v.Problems, s.checkPayloadRef(of.ID, events)...)
		lost, err := s.LostOf(of.ID, events)
		if err != nil {
			return v, err
		}
		for _, l := range lost {
			v.Absent--
			v.Problems = append(v.Problems, conversation.Problem{Commit: l.Event.Commit, Seq: l.Event.Seq, Text: l.String()})
		}
		v.Problems = append(v.Problems, s.checkSecond(ctx, of, v.Problems)...)
	}
	return v, ctx.Err()
}

// verifyChain checks the events up to a head, and counts them.
func (s *Store) verifyChain(ctx context.Context, at conversation.Head) (v conversation.Verdict, events []*conversation.Event, err error) {
	head, err := s.parseHead(at)
	if err != nil {
		return v, nil, err
	}
	links, err := s.commits.load(ctx, s.commits.walk(head))
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
	problems, absent := s.checkEvents(ctx, links)
	v.Events, v.Absent, v.Local = len(links), absent, conversation.Local(events)
	v.Problems = append(append(v.Problems, problems...), conversation.Audit(events)...)
	return v, events, nil
}

// checkHead tells where the ref was set back: events that were recorded are not among the
// conversation's any more.
func (s *Store) checkHead(id conversation.ID, standing conversation.Standing) []conversation.Problem {
	if standing != conversation.StandingRolledBack {
		return nil
	}
	seen, _, _ := s.SeenHead(id)
	return []conversation.Problem{{Commit: string(seen), Seq: -1, Text: "its newest event that was seen here is not one of its events: its ref was set back"}}
}

// checkSecond checks the other ref of a duplicate id. Problems in shared events are
// reported once.
func (s *Store) checkSecond(ctx context.Context, of conversation.Info, known []conversation.Problem) []conversation.Problem {
	second, err := s.Second(of.ID)
	if err != nil || second == nil || second.Err == nil || second.Head == of.Head {
		return nil // who located the conversation was told of an error
	}
	there, _, err := s.verifyChain(ctx, second.Head)
	problems := there.Problems
	if err != nil && !errors.Is(err, ErrShallow) {
		problems = append(problems, conversation.Problem{Commit: string(second.Head), Seq: -1, Text: err.Error()})
	}
	problems = slices.DeleteFunc(problems, func(p conversation.Problem) bool { return slices.Contains(known, p) })
	return append([]conversation.Problem{{Seq: -1, Text: second.Err.Error()}}, problems...)
}

// checkPayloadRef looks whether what keeps a conversation's payloads can be read:
// without it git collects them, and with a broken one it collects nothing.
func (s *Store) checkPayloadRef(id conversation.ID, events []*conversation.Event) []conversation.Problem {
	ref := refPayloads + string(id)
	oid, err := s.odb.ReadRef(ref)
	if err == nil {
		_, _, err = s.odb.ReadObject(oid)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, odb.ErrRefNotFound) {
		return s.checkUnkept(id, events)
	}
	return []conversation.Problem{{Seq: -1, Text: fmt.Sprintf("its payloads: %s: %v", ref, err)}}
}

// checkUnkept looks whether there is payload that no ref keeps, and no remote has.
func (s *Store) checkUnkept(id conversation.ID, events []*conversation.Event) []conversation.Problem {
	only, err := s.onlyHere(id, events)
	if err != nil {
		return nil // who lists the remotes' conversations is told
	}
	for _, e := range events {
		if only(e) && len(s.payloads.present(e.Payloads)) > 0 {
			return []conversation.Problem{{Seq: -1, Text: fmt.Sprintf("its payloads: %s%s is gone, and git gc will delete what it kept; the next turn makes it anew", refPayloads, id)}}
		}
	}
	return nil
}

// checkEvents checks the events and counts payloads that are not here.
func (s *Store) checkEvents(ctx context.Context, links []*link) (problems []conversation.Problem, absent int) {
	report := func(e *conversation.Event, format string, args ...any) {
		problems = append(problems, conversation.Problem{Commit: e.Commit, Seq: e.Seq, Text: fmt.Sprintf(format, args...)})
	}
	sum, tree := conversation.Summary{}, ""
	for i, l := range links {
		if ctx.Err() != nil {
			return problems, absent
		}
		e, moved := l.event, l.event.Tree != tree
		sum, tree = sum.Next(e), e.Tree
		if i > 0 && moved && !e.Type().ChangesFiles() {
			report(e, "a %s changes the files' tree", e.Type())
		}
		if stored := l.summary(); stored != nil && e.Signed && !sameSummary(*stored, sum) {
			report(e, "its summary is not what the events come to")
		}
		for _, p := range e.Payloads {
			switch _, ok, err := s.commits.payload(p); {
			case err != nil:
				report(e, "%v", err)
			case !ok:
				absent++
			}
		}
		if err := s.checkTree(e, moved); err != nil {
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
func (s *Store) checkTree(e *conversation.Event, first bool) error {
	if !first || odb.OID(e.Tree) == emptyTree {
		return nil
	}
	kind, _, err := s.odb.ReadObject(odb.OID(e.Tree))
	switch {
	case err != nil:
		return fmt.Errorf("its tree %.10s: %w", e.Tree, storeError(err))
	case kind != "tree":
		return fmt.Errorf("its tree %.10s is a %s", e.Tree, kind)
	}
	return nil
}
