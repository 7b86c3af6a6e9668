package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/cmd/jp/internal/takeback"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
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

// history is what the events did to the files, for [takeback].
func (v *view) history(ctx context.Context) (takeback.History, error) {
	var h takeback.History
	trail, err := v.trail(ctx)
	if err != nil {
		return h, err
	}
	here, started := v.here(), map[int]time.Time{}
	for i, moves := range trail {
		step := takeback.Step{Seq: v.events[i].Seq, Moves: moves}
		switch b := v.events[i].Body.(type) {
		case *conversation.ToolStarted:
			started[b.For] = v.events[i].Time
		case *conversation.ToolCallResponse:
			if at, ran := started[b.For]; ran && len(moves) > 0 && here[i] {
				if step.Followed, step.HeadMove, err = v.followed(ctx, v.events[i].Git, at); err != nil {
					return h, err
				}
			}
			step.Ours, step.Shared = here[i], unquoted(b.Shared)
			step.Unrecorded, step.UnrecordedMore = unquoted(b.Unrecorded), b.UnrecordedMore > 0
			if here[i] {
				step.Gone, step.GoneMore = gone(b.LeftOut)
			}
		case *conversation.Restored:
			step.Ours, step.PutBack = here[i], here[i]
		case *conversation.Resumed:
			step.Nobody = true
		}
		if len(moves)+len(step.Gone) > 0 {
			h.Steps = append(h.Steps, step)
		}
	}
	return h, nil
}

// followed are the changes of files that git made with HEAD while a tool ran: from a
// commit to one that was there before the tool.
func (v *view) followed(ctx context.Context, git *conversation.Git, since time.Time) (steps map[worktree.Step]bool, how string, err error) {
	if git == nil || git.HeadWas == "" || git.Head == "" {
		return nil, "", nil
	}
	tree, err := v.repo.trees(ctx)
	if err != nil {
		return nil, "", err
	}
	all, err := tree.CheckedOut(ctx, git.HeadWas, git.Head, since)
	steps = make(map[worktree.Step]bool, len(all))
	for _, s := range all {
		steps[s] = true
	}
	how = fmt.Sprintf("from %.10s to %.10s", git.HeadWas, git.Head)
	if git.BranchWas != "" && git.Branch != "" {
		how = fmt.Sprintf("from %s to %s", terminal.Show(git.BranchWas), terminal.Show(git.Branch))
	}
	return steps, how, err
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
func (r *repo) moment(ctx context.Context, e *env, word string) (*view, *conversation.Event, error) {
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
func (r *repo) fromHere(e *env, paths []string) []string {
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
func (r *repo) inTree(e *env, words []string) ([]string, error) {
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
