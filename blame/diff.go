package blame

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/internal/action"
	"jp/turnloop"
	"jp/worktree"
)

// A Comparison has the files that differ, and their differences.
type Comparison struct {
	view   *repo.View
	Tree   *worktree.Worktree
	Spans  []Span
	events map[string][]int // the events that are to be named, by path
	Files  []FileDiff       // sorted by path
	Seqs   [2]int           // the events whose results may have left something out
}

// A Span is a pair of trees to be compared.
type Span struct {
	Before, After string
	only          []string // these paths; nil: all
	Changes       []worktree.Change
	Whole         bool // the changes are all differences
}

// A FileDiff is the difference of one path over all spans.
type FileDiff struct {
	RawPath string `json:"-"`
	Path    string `json:"path"`
	Status  string `json:"status"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Events  []int  `json:"events"`
}

func NewComparison(ctx context.Context, v *repo.View) (*Comparison, error) {
	tree, err := v.Repo.Patches(ctx)
	if errors.Is(err, worktree.ErrNoWorktree) {
		return nil, repo.WithoutSnapshots()
	}
	if err != nil {
		return nil, err
	}
	return &Comparison{view: v, Tree: tree, events: map[string][]int{}, Seqs: [2]int{0, -1}}, nil
}

func (c *Comparison) Add(s Span) { c.Spans = append(c.Spans, s) }

// Blame names the events from one to another as those that changed files.
func (c *Comparison) Blame(ctx context.Context, from, to int) error {
	c.Seqs = [2]int{from, to}
	trail, err := c.view.Changes(ctx, from, to)
	for i, moves := range trail {
		for _, m := range moves {
			c.events[m.Path] = append(c.events[m.Path], c.view.Events[i].Seq)
		}
	}
	return err
}

// A touch is an event, by its index, that changed a path.
type touch struct {
	event int
	tool  bool
}

// tools compares only the changes by tools between two events: a path that others changed between two tools
// has a span for each piece.
func (c *Comparison) tools(ctx context.Context, from, to int) error {
	c.Seqs = [2]int{from, to}
	touches := map[string][]touch{}
	trail, err := c.view.Changes(ctx, from, to)
	if err != nil {
		return err
	}
	for i, moves := range trail {
		tool := c.view.Events[i].Type() == conversation.TypeToolCallResponse
		for _, m := range moves {
			touches[m.Path] = append(touches[m.Path], touch{i, tool})
		}
	}
	pieces := map[[2]int][]string{}
	for path, list := range touches {
		for _, p := range c.pieces(list, from, to) {
			pieces[p] = append(pieces[p], path)
		}
		for _, t := range list {
			if t.tool {
				c.events[path] = append(c.events[path], c.view.Events[t.event].Seq)
			}
		}
	}
	for p, paths := range pieces {
		slices.Sort(paths)
		c.Add(Span{Before: c.view.BeforeTree(c.view.Events[p[0]]), After: c.view.Events[p[1]].Tree, only: paths})
	}
	slices.SortFunc(c.Spans, func(a, b Span) int { return strings.Compare(a.only[0], b.only[0]) })
	return nil
}

// pieces are the first and last events of consecutive tools. If only tools touched the
// path, that is the whole range.
func (c *Comparison) pieces(list []touch, from, to int) [][2]int {
	if !slices.ContainsFunc(list, func(t touch) bool { return !t.tool }) {
		return [][2]int{{from - c.view.Events[0].Seq, to - c.view.Events[0].Seq}}
	}
	var all [][2]int
	open := false
	for _, t := range list {
		switch {
		case !t.tool:
			open = false
		case open:
			all[len(all)-1][1] = t.event
		default:
			all, open = append(all, [2]int{t.event, t.event}), true
		}
	}
	return all
}

// Find compares the trees, in some paths or in all. With count it counts lines.
func (c *Comparison) Find(ctx context.Context, paths []string, count bool) error {
	compare := c.Tree.Compare
	if count {
		compare = c.Tree.Diff
	}
	byPath := map[string]*FileDiff{}
	for i := range c.Spans {
		s := &c.Spans[i]
		changes, err := compare(ctx, s.Before, s.After)
		if err != nil {
			return err
		}
		s.Whole = true
		for _, ch := range changes {
			if s.only != nil && !has(s.only, ch.Path) || len(paths) > 0 && !worktree.Under(ch.Path, paths) {
				s.Whole = false
				continue
			}
			s.Changes = append(s.Changes, ch)
			c.sum(byPath, ch)
		}
	}
	c.Files = []FileDiff{}
	for _, f := range byPath {
		c.Files = append(c.Files, *f)
	}
	slices.SortFunc(c.Files, func(a, b FileDiff) int { return strings.Compare(a.RawPath, b.RawPath) })
	return nil
}

// Known fails for a named path that all compared snapshots and the newest one lack.
func (c *Comparison) Known(ctx context.Context, paths []string) error {
	ids := []string{c.view.Newest().Tree}
	for _, s := range c.Spans {
		ids = append(ids, s.Before, s.After)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, path := range paths {
		found := slices.ContainsFunc(c.Files, func(f FileDiff) bool { return worktree.Under(f.RawPath, []string{path}) })
		for i := 0; i < len(ids) && !found && path != "."; i++ {
			there, err := trees.Find(ctx, c.view.Repo.Trees, ids[i], path)
			if err != nil {
				return fmt.Errorf("look for %s in the tree %s: %w", path, ids[i], err)
			}
			found = there != (trees.Version{})
		}
		if !found && path != "." {
			return problem.New(problem.ExitNotFound, "not_found", "no snapshot of %s that is compared has %q.", c.view.ID, path).About(c.view.ID).
				Hint(action.DiffTools, "the files that the tools changed")
		}
	}
	return nil
}

func has(sorted []string, path string) bool {
	_, found := slices.BinarySearch(sorted, path)
	return found
}

// sum adds one change to the sum of its path.
func (c *Comparison) sum(byPath map[string]*FileDiff, ch worktree.Change) {
	f := byPath[ch.Path]
	if f == nil {
		events := append([]int{}, c.events[ch.Path]...)
		byPath[ch.Path] = &FileDiff{
			RawPath: ch.Path, Path: conversation.QuotePath(ch.Path), Status: ch.Status, Added: ch.Added, Deleted: ch.Deleted, Events: events,
		}
		return
	}
	if f.Status != "A" || ch.Status == "D" {
		f.Status = ch.Status
	}
	if f.Added < 0 || ch.Added < 0 {
		f.Added, f.Deleted = -1, -1
		return
	}
	f.Added, f.Deleted = f.Added+ch.Added, f.Deleted+ch.Deleted
}

// Scaled is the length of a part of a bar, at least 1 if n is not 0.
func Scaled(n, bar, most int) int {
	if n == 0 {
		return 0
	}
	return max(1, n*(bar-1)/most)
}

// Worktree compares the snapshot of an event, or the last, with the files now.
func (c *Comparison) Worktree(ctx context.Context, ev *conversation.Event) error {
	newest := c.view.Events[len(c.view.Events)-1]
	if ev == nil {
		ev = newest
	}
	files, err := snapshot.OpenFiles(ctx, c.view.Repo)
	if err != nil {
		return err
	}
	sight, err := files.Look(ctx, turnloop.SnapshotRequest{Tree: newest.Tree})
	if err != nil {
		return err
	}
	if files.Off {
		return repo.WithoutSnapshots()
	}
	if then := c.view.LastPlace(); then != nil && !then.SameWorktree(sight.Git) {
		c.view.Repo.Env.Note("%s worked in %s; compared are the files here.", c.view.ID, repo.WhichWorktree(*then, sight.Git))
	}
	c.Add(Span{Before: ev.Tree, After: sight.Tree})
	return c.Blame(ctx, ev.Seq+1, newest.Seq)
}

// Turn compares the changes by tools in a turn, or in all.
func (c *Comparison) Turn(ctx context.Context, which string) error {
	if which == "all" {
		return c.tools(ctx, c.view.Events[0].Seq, c.view.Events[len(c.view.Events)-1].Seq)
	}
	n, err := strconv.Atoi(which)
	if err != nil {
		return problem.Usage("invalid --turn %q (want a turn's number or all).", which)
	}
	first, last, err := c.view.TurnEvents(n)
	if err != nil {
		return err
	}
	return c.tools(ctx, first.Seq, last.Seq)
}
