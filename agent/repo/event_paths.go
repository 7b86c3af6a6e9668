package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/internal/action"
)

// Changes are each event's changes of the files, from one event to another, in the order of all events.
func (v *View) Changes(ctx context.Context, from, to int) ([][]trees.Change, error) {
	trail := make([][]trees.Change, len(v.Events))
	for i, e := range v.Events {
		if i == 0 || e.Seq < from || e.Seq > to || e.Tree == v.Events[i-1].Tree {
			continue
		}
		var err error
		if trail[i], err = v.Repo.Trees.DiffTrees(ctx, v.Events[i-1].Tree, e.Tree); err != nil {
			return nil, fmt.Errorf("compare the trees of event %d: %w", e.Seq, err)
		}
	}
	return trail, nil
}

// LastPlace is the place in which the conversation works, nil if unrecorded.
func (v *View) LastPlace() *conversation.Git {
	for _, e := range slices.Backward(v.Events) {
		if e.Git != nil && e.Type().Places() {
			return e.Git
		}
	}
	return nil
}

// Unquoted are the paths in an event, without invalid ones.
func Unquoted(texts []string) []string {
	var paths []string
	for _, text := range texts {
		if path, err := conversation.UnquotePath(text); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// EventNamed finds the conversation and the event that [ID]@E, E or ID names. The event is nil if only the
// conversation is named. Without a word it is the session's conversation. The view goes back as far as enough
// requires, and to before the named event.
func (r Finder) EventNamed(ctx context.Context, e *Host, word string, enough Reach) (*View, *conversation.Event, error) {
	if target, event, found := strings.Cut(word, "@"); found || word == "" {
		if event == "" {
			v, err := r.ViewBack(ctx, e, target, enough)
			return v, nil, err
		}
		v, err := r.ViewBack(ctx, e, target, enough.andBack(reachOf(event, e.Now())))
		if err != nil {
			return nil, nil, err
		}
		return v.selects(ctx, e, event)
	}
	id, err := r.Visited(ctx, e, 0)
	if err != nil {
		v, err := r.ViewBack(ctx, e, word, enough)
		return v, nil, err
	}
	v, err := r.ViewBack(ctx, e, string(id), enough.andBack(reachOf(word, e.Now())))
	if err != nil {
		return nil, nil, err
	}
	v, ev, noEvent := v.selects(ctx, e, word)
	if noEvent == nil {
		return v, ev, nil
	}
	other, err := r.ViewBack(ctx, e, word, enough)
	var f *problem.Error
	if errors.As(err, &f) && f.Code == "not_found" {
		return nil, nil, noEvent
	}
	return other, nil, err
}

// EventAlone is EventNamed for commands that need only the named event and the one before. Without a named
// event the view goes back as far as enough requires.
func (r Finder) EventAlone(ctx context.Context, e *Host, word string, enough Reach) (*View, *conversation.Event, error) {
	if target, event, _ := strings.Cut(word, "@"); event != "" {
		v, err := r.open(ctx, e, target)
		if err != nil {
			return nil, nil, err
		}
		if words := v.loadPart(ctx, event); words != nil {
			return v.selects(ctx, e, words[0])
		}
	}
	return r.EventNamed(ctx, e, word, enough)
}

// EventRange finds two events of a conversation. By default they are the first and the newest.
func (r Finder) EventRange(ctx context.Context, e *Host, target, from, to string) (v *View, first, last *conversation.Event, err error) {
	var enough Reach // all, to the first
	switch {
	case from != "" && to != "":
		enough = reachOf(from, e.Now()).andBack(reachOf(to, e.Now()))
	case from != "":
		enough = reachOf(from, e.Now())
	}
	if v, err = r.open(ctx, e, target); err != nil {
		return nil, nil, nil, err
	}
	if words := v.loadPart(ctx, from, to); words != nil {
		from, to = words[0], words[1]
	} else if v, err = v.back(ctx, enough); err != nil {
		return nil, nil, nil, err
	}
	last = v.Events[len(v.Events)-1]
	if to != "" {
		if v, last, err = v.selects(ctx, e, to); err != nil {
			return nil, nil, nil, err
		}
	}
	if from != "" {
		v, first, err = v.selects(ctx, e, from)
	} else {
		first = v.Events[0]
	}
	return v, first, last, err
}

// TurnEvents are the first and the last event of a turn.
func (v *View) TurnEvents(turn int) (first, last *conversation.Event, err error) {
	for _, e := range v.Events {
		if e.Turn == turn {
			if first == nil {
				first = e
			}
			last = e
		}
	}
	if first == nil {
		return nil, nil, problem.New(problem.ExitNotFound, "not_found", "%s has no turn %d; its last is %d.", v.ID, turn, v.LastTurn()).About(v.ID)
	}
	return first, last, nil
}

func (v *View) LastTurn() int { return v.Events[len(v.Events)-1].Turn }

// BeforeTree is the tree that an event found, its own for the first event.
func (v *View) BeforeTree(e *conversation.Event) string {
	if before := BySeq(v.Events, e.Seq-1); before != nil {
		return before.Tree
	}
	return e.Tree
}

// FromHere are paths of the working tree, relative to the working directory of the command.
func (r *Repo) FromHere(e *Host, paths []string) []string {
	dir, err := e.folder()
	typed := make([]string, len(paths))
	for i, path := range paths {
		typed[i] = filepath.Join(r.Place(), filepath.FromSlash(path))
		if rel, relErr := filepath.Rel(dir, typed[i]); err == nil && relErr == nil {
			typed[i] = rel
		}
		if strings.HasPrefix(typed[i], "-") {
			typed[i] = "./" + typed[i]
		}
	}
	return typed
}

// InTree makes paths that the user typed relative to the working tree.
func (r *Repo) InTree(e *Host, words []string) ([]string, error) {
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
		rel, err := filepath.Rel(r.Place(), full)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, problem.Usage("%s is outside of the working tree %s.", word, r.Place())
		}
		paths = append(paths, filepath.ToSlash(rel))
	}
	return paths, nil
}

// WithoutSnapshots is the error of a comparison without snapshots.
func WithoutSnapshots() error {
	return problem.Usage("jp keeps no snapshots of the files here (no working tree, too wide a one, or snapshot.mode is off).").
		Hint(action.AddWorktree, "makes a working tree of a bare repository: jp keeps snapshots there").
		Hint(action.SetSnapshots, "where it is off: snapshots from now on")
}
