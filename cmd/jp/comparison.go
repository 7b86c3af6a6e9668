package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jp/conversation"
	"jp/turnloop"
	"jp/worktree"
)

// A comparison is which files differ, and how.
type comparison struct {
	view   *view
	tree   *worktree.Worktree
	trail  [][]worktree.Step // by event
	spans  []span
	events map[string][]int // the events that are to be named, by path
	files  []fileDiff       // sorted by path
	seqs   [2]int           // the events whose results may have left something out
}

// A span is a pair of trees to be compared.
type span struct {
	before, after string
	only          []string // these paths; nil: all
	changes       []worktree.Change
	whole         bool // the changes are all that differs
}

// A fileDiff is how one path differs over all spans.
type fileDiff struct {
	path    string
	Path    string `json:"path"`
	Status  string `json:"status"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Events  []int  `json:"events"`
}

func (v *view) comparison(ctx context.Context) (*comparison, error) {
	tree, err := v.repo.trees(ctx)
	if errors.Is(err, worktree.ErrNoWorktree) {
		return nil, withoutSnapshots()
	}
	if err != nil {
		return nil, err
	}
	trail, err := v.trail(ctx)
	return &comparison{view: v, tree: tree, trail: trail, events: map[string][]int{}, seqs: [2]int{0, -1}}, err
}

func (c *comparison) add(s span) { c.spans = append(c.spans, s) }

// blame names the events from one to another as those that changed files.
func (c *comparison) blame(from, to int) {
	c.seqs = [2]int{from, to}
	for i, moves := range c.trail {
		if seq := c.view.events[i].Seq; seq >= from && seq <= to {
			for _, m := range moves {
				c.events[m.Path] = append(c.events[m.Path], seq)
			}
		}
	}
}

// A touch is an event, by its index, that changed a path.
type touch struct {
	event int
	tool  bool
}

// tools compares what tools changed between two events, and nothing else: a
// path that others changed between two tools has a span for each piece.
func (c *comparison) tools(from, to int) {
	c.seqs = [2]int{from, to}
	touches := map[string][]touch{}
	for i, moves := range c.trail {
		e := c.view.events[i]
		if e.Seq < from || e.Seq > to {
			continue
		}
		for _, m := range moves {
			touches[m.Path] = append(touches[m.Path], touch{i, e.Type() == conversation.TypeToolCallResponse})
		}
	}
	pieces := map[[2]int][]string{}
	for path, list := range touches {
		for _, p := range c.pieces(list, from, to) {
			pieces[p] = append(pieces[p], path)
		}
		for _, t := range list {
			if t.tool {
				c.events[path] = append(c.events[path], c.view.events[t.event].Seq)
			}
		}
	}
	for p, paths := range pieces {
		slices.Sort(paths)
		c.add(span{before: c.view.beforeTree(c.view.events[p[0]]), after: c.view.events[p[1]].Tree, only: paths})
	}
	slices.SortFunc(c.spans, func(a, b span) int { return strings.Compare(a.only[0], b.only[0]) })
}

// pieces are the first and last events of tools that follow each other. Where
// nobody else touched the path that is the whole range, the same for all.
func (c *comparison) pieces(list []touch, from, to int) [][2]int {
	if !slices.ContainsFunc(list, func(t touch) bool { return !t.tool }) {
		return [][2]int{{from - c.view.events[0].Seq, to - c.view.events[0].Seq}}
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

// find compares the trees, in some paths or in all.
func (c *comparison) find(ctx context.Context, paths []string) error {
	byPath := map[string]*fileDiff{}
	for i := range c.spans {
		s := &c.spans[i]
		changes, err := c.tree.Diff(ctx, s.before, s.after)
		if err != nil {
			return err
		}
		s.whole = true
		for _, ch := range changes {
			if s.only != nil && !has(s.only, ch.Path) || len(paths) > 0 && !worktree.Under(ch.Path, paths) {
				s.whole = false
				continue
			}
			s.changes = append(s.changes, ch)
			c.sum(byPath, ch)
		}
	}
	c.files = []fileDiff{}
	for _, f := range byPath {
		c.files = append(c.files, *f)
	}
	slices.SortFunc(c.files, func(a, b fileDiff) int { return strings.Compare(a.path, b.path) })
	return nil
}

// known refuses a named path that none of the compared snapshots has, nor the
// newest one.
func (c *comparison) known(ctx context.Context, paths []string) error {
	trees := []string{c.view.events[len(c.view.events)-1].Tree}
	for _, s := range c.spans {
		trees = append(trees, s.before, s.after)
	}
	slices.Sort(trees)
	trees = slices.Compact(trees)
	for _, path := range paths {
		found := slices.ContainsFunc(c.files, func(f fileDiff) bool { return worktree.Under(f.path, []string{path}) })
		for i := 0; i < len(trees) && !found && path != "."; i++ {
			out, err := c.view.repo.git.Run(ctx, "ls-tree", "-z", "--name-only", "--full-tree", trees[i], "--", path)
			if err != nil {
				return fmt.Errorf("look for %s in the tree %s: %w", path, trees[i], err)
			}
			found = len(out) > 0
		}
		if !found && path != "." {
			return fail(exitNotFound, "not_found", "no snapshot of %s that is compared has %q.", c.view.id, path).about(c.view.id).
				hint("jp diff --turn all --name-only", "the files that the tools changed")
		}
	}
	return nil
}

// has looks a path up in a sorted list.
func has(sorted []string, path string) bool {
	_, found := slices.BinarySearch(sorted, path)
	return found
}

// sum adds one change to what is known of its path.
func (c *comparison) sum(byPath map[string]*fileDiff, ch worktree.Change) {
	f := byPath[ch.Path]
	if f == nil {
		events := append([]int{}, c.events[ch.Path]...)
		byPath[ch.Path] = &fileDiff{
			path: ch.Path, Path: conversation.QuotePath(ch.Path), Status: ch.Status, Added: ch.Added, Deleted: ch.Deleted, Events: events,
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

// scaled is a part of a bar that is not nothing where n is not.
func scaled(n, bar, most int) int {
	if n == 0 {
		return 0
	}
	return max(1, n*(bar-1)/most)
}

// worktree compares the snapshot of an event, or the last, with the files now.
func (c *comparison) worktree(ctx context.Context, ev *conversation.Event) error {
	newest := c.view.events[len(c.view.events)-1]
	if ev == nil {
		ev = newest
	}
	files, err := c.view.repo.openFiles(ctx)
	if err != nil {
		return err
	}
	sight, err := files.Look(ctx, turnloop.Glance{Tree: newest.Tree})
	if err != nil {
		return err
	}
	if files.off {
		return withoutSnapshots()
	}
	if then := c.view.lastPlace(); then != nil && !then.SameWorktree(sight.Git) {
		c.view.repo.env.note("%s worked in %s; compared are the files here.", c.view.id, whichWorktree(*then, sight.Git))
	}
	c.add(span{before: ev.Tree, after: sight.Tree})
	c.blame(ev.Seq+1, newest.Seq)
	return nil
}

// turn compares what the tools changed in a turn, or in all.
func (c *comparison) turn(which string) error {
	if which == "all" {
		c.tools(c.view.events[0].Seq, c.view.events[len(c.view.events)-1].Seq)
		return nil
	}
	n, err := strconv.Atoi(which)
	if err != nil {
		return usage("--turn %q is neither a turn's number nor all.", which)
	}
	first, last, err := c.view.turnEvents(n)
	if err == nil {
		c.tools(first.Seq, last.Seq)
	}
	return err
}
