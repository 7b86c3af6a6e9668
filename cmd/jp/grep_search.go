package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/search"
)

// conversations are those to search, in the order of ls.
func (g *grep) conversations(ctx context.Context) (infos []conversation.Info, err error) {
	var since time.Time
	if g.opts.since != "" {
		var ok bool
		if since, ok = repo.ParseTime(g.opts.since, g.env.Now()); !ok {
			return nil, repo.NoTime("--since", g.opts.since, "a time: 2h, 2026-11-21, or RFC 3339")
		}
	}
	switch {
	case len(g.opts.words) > 0:
		infos, err = g.named(ctx)
	case g.opts.archived:
		infos, err = g.repo.Store.Candidates(ctx, conversation.ScopeArchived, g.query.Prefilter())
	default:
		infos, err = g.repo.Store.Candidates(ctx, conversation.ScopeLive, g.query.Prefilter())
	}
	infos = slices.DeleteFunc(infos, func(i conversation.Info) bool {
		return i.Err == nil && i.Summary.LastEventAt.Before(since)
	})
	slices.SortFunc(infos, func(a, b conversation.Info) int {
		return cmp.Or(a.Summary.LastEventAt.Compare(b.Summary.LastEventAt), cmp.Compare(a.ID, b.ID))
	})
	return infos, err
}

// named are the conversations that the user named, each once.
func (g *grep) named(ctx context.Context) ([]conversation.Info, error) {
	names, err := g.repo.Find().Names(ctx, g.env.Host, g.opts.words)
	var unknown *problem.Error
	if errors.As(err, &unknown) && len(g.opts.patterns) == 1 {
		words := append(slices.Clone(g.opts.patterns), g.opts.words...)
		unknown.Hint(action.GrepFor(strings.Join(words, " ")), "search for all these words")
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var infos []conversation.Info
	for _, name := range slices.Compact(names) {
		info, err := g.repo.Find().Known(ctx, g.env.Host, name)
		if info.ID == "" {
			info.ID = conversation.ID(name)
		}
		info.Err = err
		infos = append(infos, info)
	}
	return infos, nil
}

// errEnough ends a search that has enough matches.
var errEnough = errors.New("enough was found")

// show passes the matches of each conversation to show, and keeps the conversations that could not be
// searched.
func (g *grep) show(ctx context.Context, results iter.Seq[search.Result], show func(search.Result) error) error {
	for r := range results {
		if r.Err != nil {
			g.failed = append(g.failed, r)
		}
		if r.Matches == 0 {
			continue
		}
		g.found = true
		if err := show(r); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// results are in the order of the conversations. The last ones in which
// something is found are looked for from the end.
func (g *grep) results(ctx context.Context, from search.Source) iter.Seq[search.Result] {
	if o := g.opts; o.limit == 0 {
		results := search.Conversations(ctx, from, g.infos, g.query)
		if o.all || o.count || o.list || o.max > 0 {
			return results
		}
		return search.Once(g.infos, results)
	}
	slices.Reverse(g.infos)
	var last []search.Result
	left := g.opts.limit
	for r := range search.Conversations(ctx, from, g.infos, g.query) {
		last = append(last, r)
		if r.Matches > 0 {
			left--
		}
		if left == 0 {
			break
		}
	}
	slices.Reverse(last)
	return slices.Values(last)
}

// verdict is the error of a search. A named conversation that cannot be searched is an
// error. Others give a notice.
func (g *grep) verdict(err error) error {
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return err
	}
	g.absent.report(g.env.Host, g.repo)
	var first *problem.Error
	for _, r := range g.failed {
		f := repo.ProblemOf(repo.AboutInfo(r.Err, r.Info))
		if first == nil && len(g.opts.words) > 0 {
			first = f
			continue
		}
		g.warn(r.Info, f)
	}
	switch {
	case first != nil:
		return first
	case !g.found:
		return &problem.Error{Exit: problem.ExitFailed, Silent: true}
	}
	return nil
}

func (g *grep) warn(of conversation.Info, f *problem.Error) {
	if g.env.Quiet {
		return
	}
	text, out := f.Message, problem.Hint{Action: action.Verify(of.ID.Short()), Text: "all that is wrong with it"}
	if !strings.Contains(text, string(of.ID)) {
		text = of.Name() + ": " + text
	}
	if n := len(f.Hints); n > 0 {
		out = f.Hints[n-1]
	}
	fmt.Fprintf(g.env.Stderr, "Warning: %s\n    %s   %s\n", problem.OneLine(text), out.Action, out.Text)
}
