package undo

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/internal/safetext"
	"jp/worktree"
)

// history is the effect of the events on the files, for the plan.
func (b *Undo) history(ctx context.Context) (history, error) {
	var h history
	v := b.View
	if b.copies != nil {
		b.copies.clear(b.Since)
	}
	trail, err := v.Changes(ctx, 0, math.MaxInt)
	if err != nil {
		return h, err
	}
	here, started, head := here(v), map[int]time.Time{}, ""
	for i, moves := range trail {
		event := v.Events[i]
		s := step{Seq: event.Seq, Moves: moves}
		switch body := event.Body.(type) {
		case *conversation.ToolStarted:
			started[body.For] = event.Time
		case *conversation.ToolCallResponse:
			s.Ours, s.Shared = here[i], repo.Unquoted(body.Shared)
			s.Unrecorded, s.UnrecordedMore = repo.Unquoted(body.Unrecorded), body.UnrecordedMore > 0
			if here[i] {
				s.Gone, s.GoneMore = gone(body.LeftOut)
			}
			if b.copies != nil && here[i] {
				b.copies.merge(&s, b.copies.calls[body.For])
			}
			if at, ran := started[body.For]; ran && here[i] && event.Git != nil && event.Git.Head != head {
				if err := withHead(ctx, v, &s, head, event, at); err != nil {
					return h, err
				}
			}
		case *conversation.Restored:
			s.Ours, s.PutBack = here[i], here[i]
			if b.copies != nil && here[i] {
				b.copies.merge(&s, b.copies.events[event.Seq])
			}
		case *conversation.Resumed:
			s.UnknownAuthor = true
			if b.copies != nil && here[i] {
				b.copies.merge(&s, b.copies.events[event.Seq])
			}
		}
		if event.Git != nil {
			head = event.Git.Head
		}
		if len(s.Moves)+len(s.Gone)+len(s.Lost) > 0 {
			h.Steps = append(h.Steps, s)
		}
	}
	return h, markCommitted(ctx, v, h)
}

// withHead adds to the step of a response the changes that git made to the files with HEAD, which was at
// another commit when the tool was started.
func withHead(ctx context.Context, v *repo.View, s *step, was string, response *conversation.Event, since time.Time) error {
	tree, err := v.Repo.Patches(ctx)
	if err != nil {
		return err
	}
	git := response.Git
	if s.Came, err = tree.CameWithHead(ctx, was, git.Head, since); err != nil || len(s.Came) == 0 {
		return err
	}
	s.HeadMove = fmt.Sprintf("from %.10s to %.10s", was, git.Head)
	switch {
	case git.BranchWas != "" && git.Branch != "":
		s.HeadMove = fmt.Sprintf("from %s to %s", safetext.Show(git.BranchWas), safetext.Show(git.Branch))
	case was == "":
		s.HeadMove = fmt.Sprintf("to %.10s", git.Head)
	}
	moved := map[string]bool{}
	for _, m := range s.Moves {
		moved[m.Path] = true
	}
	for _, l := range response.Body.(*conversation.ToolCallResponse).LeftOut {
		moved[repo.PlainPath(l.Path)] = true
	}
	var still []string
	for _, path := range slices.Sorted(maps.Keys(s.Came)) {
		if c := s.Came[path]; !moved[path] && c.Before == (worktree.Version{}) {
			still = append(still, path)
		}
	}
	versions, err := trees.Files(ctx, v.Repo.Trees, response.Tree, still)
	for _, path := range still {
		if versions[path] == (worktree.Version{}) {
			s.Lost = append(s.Lost, path)
		}
	}
	return err
}

// markCommitted says of the paths that came with HEAD at some step which steps found them as
// HEAD had them then.
func markCommitted(ctx context.Context, v *repo.View, h history) error {
	came := map[string]bool{}
	for _, s := range h.Steps {
		for path := range s.Came {
			came[path] = true
		}
	}
	if len(came) == 0 {
		return nil
	}
	tree, err := v.Repo.Patches(ctx)
	if err != nil {
		return err
	}
	paths := slices.Sorted(maps.Keys(came))
	heads := map[string]map[string]worktree.Version{}
	for i, s := range h.Steps {
		if !slices.ContainsFunc(s.Moves, func(m worktree.Step) bool { return came[m.Path] }) {
			continue
		}
		head := headBefore(v, s.Seq)
		if _, known := heads[head]; !known {
			heads[head] = nil
			if v.Repo.HasCommit(head) {
				root, err := tree.CommitTree(ctx, head, v.Repo.Store)
				if err != nil {
					return err
				}
				if heads[head], err = trees.Files(ctx, v.Repo.Trees, root, paths); err != nil {
					return err
				}
			}
		}
		for _, m := range s.Moves {
			if came[m.Path] && heads[head][m.Path] == m.Before {
				h.Steps[i].Committed = append(h.Steps[i].Committed, m.Path)
			}
		}
	}
	return nil
}

// headBefore is HEAD before an event, as far as known.
func headBefore(v *repo.View, seq int) (head string) {
	known := false
	for _, e := range v.Events {
		if e.Seq >= seq && known {
			break
		}
		if e.Git != nil {
			head, known = e.Git.Head, true
		}
	}
	return head
}

// here tells for each event whether the conversation worked in the present working tree then. Its tools wrote
// other files elsewhere. A fork that got a working tree also has the shared events there. In place, events
// before an adoption are the work of others.
func here(v *repo.View) []bool {
	places := make([]*conversation.Git, len(v.Events))
	var now *conversation.Git
	for i, e := range v.Events {
		if e.Git != nil && e.Type().Places() {
			now = e.Git
		}
		places[i] = now
		if origin, is := e.Body.(*conversation.ForkOrigin); is && origin.CheckedOut {
			for j := range i {
				places[j] = now
			}
		}
	}
	here, adopted := make([]bool, len(v.Events)), adoption(v.Events)
	for i, place := range places {
		here[i] = v.Events[i].Seq >= adopted && (place == nil || place.SameWorktree(*now))
	}
	return here
}

// adoption is the seq of the newest event by which the user adopted the conversation in place,
// or 0.
func adoption(events []*conversation.Event) int {
	for _, e := range slices.Backward(events) {
		if origin, is := e.Body.(*conversation.ForkOrigin); is && origin.CheckedOut {
			return 0
		} else if is && origin.Adopted {
			return e.Seq
		}
	}
	return 0
}

// gone are the files outside of trees that a tool took away. more reports that there are others.
func gone(all []conversation.SkippedPath) (paths []string, more bool) {
	var texts []string
	for _, l := range all {
		switch {
		case l.Why == worktree.WhyGone:
			texts = append(texts, l.Path)
		case l.Path == ".":
			more = len(texts) > 0
		}
	}
	return repo.Unquoted(texts), more
}
