package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Verify checks a conversation: that every commit is an event, that trees change only at events that may
// change them, that the newest summary is the sum of the events, that payload and the ref that keeps it are
// right, and that the events make sense together.
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
	head, err := s.parseHead(of.Head)
	if err != nil {
		return conversation.Verdict{ID: of.ID}, err
	}
	repo, err := s.repository(false)
	if err != nil {
		return conversation.Verdict{ID: of.ID}, err
	}
	checked, err := s.commits.verify(ctx, head, repo)
	v, events := checked.verdict, checked.kept
	v.ID = of.ID
	if err != nil {
		return v, err
	}
	if !v.Local {
		v.Standing = conversation.StandingForeign
	}
	if of.Remote == "" {
		if v.Standing, err = s.Standing(ctx, of.ID, of.Head, events); err != nil {
			return v, err
		}
		if v.Standing == conversation.StandingRolledBack {
			seen, _, _ := s.SeenHead(of.ID)
			v.Problems = append(v.Problems, conversation.Problem{
				Commit: string(seen), Seq: -1, Text: "its newest event that was seen here is not one of its events: its ref was set back",
			})
		}
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

// checkSecond checks the other ref of a duplicate id. Problems in shared events are
// reported once.
func (s *Store) checkSecond(ctx context.Context, of conversation.Info, known []conversation.Problem) []conversation.Problem {
	second, err := s.DuplicateOf(of.ID)
	if err != nil || second == nil || second.Err == nil || second.Head == of.Head {
		return nil // locating the conversation reported an error
	}
	var problems []conversation.Problem
	head, err := s.parseHead(second.Head)
	if err == nil {
		var there *chainCheck
		there, err = s.commits.verify(ctx, head, "")
		problems = there.verdict.Problems
	}
	if err != nil && !errors.Is(err, ErrShallow) {
		problems = append(problems, conversation.Problem{Commit: string(second.Head), Seq: -1, Text: err.Error()})
	}
	problems = slices.DeleteFunc(problems, func(p conversation.Problem) bool { return slices.Contains(known, p) })
	return append([]conversation.Problem{{Seq: -1, Text: second.Err.Error()}}, problems...)
}

// checkPayloadRef checks that the ref that keeps a conversation's payloads is readable: without it git
// collects them, and with a broken one it collects nothing. A missing ref matters only if some payload is
// on no remote.
func (s *Store) checkPayloadRef(id conversation.ID, events []*conversation.Event) []conversation.Problem {
	ref := refPayloads + string(id)
	oid, err := s.odb.ReadRef(ref)
	if err == nil {
		_, _, err = s.odb.ReadObject(oid)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, odb.ErrRefNotFound) {
		return []conversation.Problem{{Seq: -1, Text: fmt.Sprintf("its payloads: %s: %v", ref, err)}}
	}
	only, err := s.onlyHere(id, events)
	if err != nil {
		return nil // a list of the remotes' conversations reports it
	}
	for _, e := range events {
		if only(e) && len(s.payloads.present(e.Payloads)) > 0 {
			return []conversation.Problem{{Seq: -1, Text: fmt.Sprintf("its payloads: %s is gone, and git gc will delete what it kept; the next turn makes it again", ref)}}
		}
	}
	return nil
}
