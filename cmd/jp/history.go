package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/undo/undoplan"
	"jp/worktree"
)

// trail is what each event did to the files, in the order of the events.
func (v *view) trail(ctx context.Context) ([][]worktree.Step, error) {
	tree, err := v.repo.trees(ctx)
	if err != nil {
		return nil, err
	}
	trees := []string{v.events[0].Tree}
	for _, e := range v.events {
		trees = append(trees, e.Tree)
	}
	return tree.Trail(ctx, trees)
}

// history is what the events did to the files, for [undoplan].
func (v *view) history(ctx context.Context) (undoplan.History, error) {
	var h undoplan.History
	trail, err := v.trail(ctx)
	if err != nil {
		return h, err
	}
	here, started, head := v.here(), map[int]time.Time{}, ""
	for i, moves := range trail {
		event := v.events[i]
		step := undoplan.Step{Seq: event.Seq, Moves: moves}
		switch b := event.Body.(type) {
		case *conversation.ToolStarted:
			started[b.For] = event.Time
		case *conversation.ToolCallResponse:
			step.Ours, step.Shared = here[i], unquoted(b.Shared)
			step.Unrecorded, step.UnrecordedMore = unquoted(b.Unrecorded), b.UnrecordedMore > 0
			if here[i] {
				step.Gone, step.GoneMore = gone(b.LeftOut)
			}
			if at, ran := started[b.For]; ran && here[i] && event.Git != nil && event.Git.Head != head {
				if err := v.withHead(ctx, &step, head, event, at); err != nil {
					return h, err
				}
			}
		case *conversation.Restored:
			step.Ours, step.PutBack = here[i], here[i]
		case *conversation.Resumed:
			step.Nobody = true
		}
		if event.Git != nil {
			head = event.Git.Head
		}
		if len(moves)+len(step.Gone)+len(step.Lost) > 0 {
			h.Steps = append(h.Steps, step)
		}
	}
	return h, v.markCommitted(ctx, h)
}

// withHead adds to the step of a response what git did to the files with HEAD, which was
// at another commit when the tool was started.
func (v *view) withHead(ctx context.Context, s *undoplan.Step, was string, response *conversation.Event, since time.Time) error {
	tree, err := v.repo.trees(ctx)
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
		moved[plainPath(l.Path)] = true
	}
	var still []string
	for _, path := range slices.Sorted(maps.Keys(s.Came)) {
		if c := s.Came[path]; !moved[path] && c.Before == (worktree.Version{}) {
			still = append(still, path)
		}
	}
	versions, err := tree.Versions(ctx, response.Tree, still)
	for _, path := range still {
		if versions[path] == (worktree.Version{}) {
			s.Lost = append(s.Lost, path)
		}
	}
	return err
}

// markCommitted says of the paths that came with HEAD at some step which steps found them as
// HEAD had them then.
func (v *view) markCommitted(ctx context.Context, h undoplan.History) error {
	came := map[string]bool{}
	for _, s := range h.Steps {
		for path := range s.Came {
			came[path] = true
		}
	}
	if len(came) == 0 {
		return nil
	}
	tree, err := v.repo.trees(ctx)
	if err != nil {
		return err
	}
	paths := slices.Sorted(maps.Keys(came))
	heads := map[string]map[string]worktree.Version{}
	for i, s := range h.Steps {
		if !slices.ContainsFunc(s.Moves, func(m worktree.Step) bool { return came[m.Path] }) {
			continue
		}
		head := v.headBefore(s.Seq)
		if _, known := heads[head]; !known {
			heads[head] = nil
			if head != "" && v.repo.hasCommit(ctx, head) {
				if heads[head], err = tree.Versions(ctx, head, paths); err != nil {
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

// headBefore is where HEAD was before an event, as far as it is known.
func (v *view) headBefore(seq int) (head string) {
	known := false
	for _, e := range v.events {
		if e.Seq >= seq && known {
			break
		}
		if e.Git != nil {
			head, known = e.Git.Head, true
		}
	}
	return head
}

// here says of each event whether the conversation worked then in the working tree in
// which it works now: what its tools wrote in another one is not here. A fork for which
// a working tree was made has what it shares there, too.
func (v *view) here() []bool {
	places := make([]*conversation.Git, len(v.events))
	var now *conversation.Git
	for i, e := range v.events {
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
	here := make([]bool, len(v.events))
	for i, place := range places {
		here[i] = place == nil || place.SameWorktree(*now)
	}
	return here
}

// gone are the files that a tool took away, and that no tree has; more says that they
// are not all.
func gone(all []conversation.LeftOut) (paths []string, more bool) {
	var texts []string
	for _, l := range all {
		switch {
		case l.Why == worktree.WhyGone:
			texts = append(texts, l.Path)
		case l.Path == ".":
			more = len(texts) > 0
		}
	}
	return unquoted(texts), more
}

// lastPlace is where the conversation works, nil where that was never said.
func (v *view) lastPlace() *conversation.Git {
	for _, e := range slices.Backward(v.events) {
		if e.Git != nil && e.Type().Places() {
			return e.Git
		}
	}
	return nil
}

// unquoted are the paths that stand in an event; one that is none is left out.
func unquoted(texts []string) []string {
	var paths []string
	for _, text := range texts {
		if path, err := conversation.UnquotePath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// moment finds what [ID]@E, E or ID names: a conversation, and an event of it,
// which is nil where only the conversation is named. Without a word it is the
// session's conversation.
func (r finder) moment(ctx context.Context, e *host, word string) (*view, *conversation.Event, error) {
	if target, event, found := strings.Cut(word, "@"); found || word == "" {
		v, err := r.view(ctx, e, target)
		if err != nil || event == "" {
			return v, nil, err
		}
		ev, err := selectEvent(v.events, event, v.id, e.now())
		return v, ev, err
	}
	id, err := r.visited(ctx, e, 0)
	if err != nil {
		v, err := r.view(ctx, e, word)
		return v, nil, err
	}
	v, err := r.view(ctx, e, string(id))
	if err != nil {
		return nil, nil, err
	}
	ev, noEvent := selectEvent(v.events, word, v.id, e.now())
	if noEvent == nil {
		return v, ev, nil
	}
	other, err := r.view(ctx, e, word)
	var f *failure
	if errors.As(err, &f) && f.code == "not_found" {
		return nil, nil, noEvent
	}
	return other, nil, err
}

// turnEvents are the first and the last event of a turn.
func (v *view) turnEvents(turn int) (first, last *conversation.Event, err error) {
	for _, e := range v.events {
		if e.Turn == turn {
			if first == nil {
				first = e
			}
			last = e
		}
	}
	if first == nil {
		return nil, nil, fail(exitNotFound, "not_found", "%s has no turn %d; its last is %d.", v.id, turn, v.lastTurn()).about(v.id)
	}
	return first, last, nil
}

func (v *view) lastTurn() int { return v.events[len(v.events)-1].Turn }

// beforeTree is the tree that an event found, its own for the first event.
func (v *view) beforeTree(e *conversation.Event) string {
	if before := bySeq(v.events, e.Seq-1); before != nil {
		return before.Tree
	}
	return e.Tree
}

// fromHere are paths of the working tree as they are typed where the command was.
func (r *repo) fromHere(e *host, paths []string) []string {
	dir, err := e.folder()
	typed := make([]string, len(paths))
	for i, path := range paths {
		typed[i] = filepath.Join(r.place(), filepath.FromSlash(path))
		if rel, relErr := filepath.Rel(dir, typed[i]); err == nil && relErr == nil {
			typed[i] = rel
		}
		if strings.HasPrefix(typed[i], "-") {
			typed[i] = "./" + typed[i]
		}
	}
	return typed
}

// inTree makes paths that the user typed relative to the working tree.
func (r *repo) inTree(e *host, words []string) ([]string, error) {
	dir, err := e.folder()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, word := range words {
		full := word
		if !filepath.IsAbs(word) {
			full = filepath.Join(dir, word)
		}
		rel, err := filepath.Rel(r.place(), full)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, usage("%s is outside of the working tree %s.", word, r.place())
		}
		paths = append(paths, filepath.ToSlash(rel))
	}
	return paths, nil
}

// withoutSnapshots says that there is nothing to compare with.
func withoutSnapshots() error {
	return usage("jp keeps no snapshots of the files here (no working tree, too wide a one, or snapshot.mode is off).").
		hint("git worktree add DIR", "makes a working tree of a bare repository: jp keeps snapshots there").
		hint("jp config set snapshot.mode tracked+tools", "where it is off: snapshots from now on")
}
