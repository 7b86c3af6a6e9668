package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/usage"
)

const usageHelp = `Sum up what model calls of this repository used: tokens, the share that came from
the provider's cache, and the cost as far as jp knows the price. Forks count what
they share once. With --misses, list the calls that the cache could have served
better, each with the reason.

JSON: {"by","groups":[{"key","calls","input","output","cache_read","cache_write",
"cost_usd","unpriced_calls"}],"total"}; with --misses [{"conversation","seq","time",
"model","input","cache_read","why"}]

Exit codes: 0 done · 2 usage`

type usageOptions struct {
	by, since string
	misses    bool
}

func newUsageCommand(e *ui.Env) *cobra.Command {
	var o usageOptions
	cmd := &cobra.Command{
		Use: "usage", Short: "Sum up tokens and cost", GroupID: "look", Args: cobra.NoArgs,
		Long: usageHelp, Example: "  jp usage\n  jp usage --by model --since 2026-11-01\n  jp usage --misses",
		RunE: func(cmd *cobra.Command, _ []string) error { return runUsage(cmd.Context(), e, o) },
	}
	cmd.Flags().StringVar(&o.by, "by", "day", "group by `KIND`: day, model, conversation or branch")
	cmd.Flags().StringVar(&o.since, "since", "", "only calls since `TIME`: 2h, 2026-11-21, RFC 3339")
	cmd.Flags().BoolVar(&o.misses, "misses", false, "list calls that missed the provider's cache")
	return cmd
}

func runUsage(ctx context.Context, e *ui.Env, o usageOptions) error {
	if !slices.Contains(usage.By, o.by) {
		return problem.Usage("invalid --by %q (want day, model, conversation or branch).", o.by)
	}
	var since time.Time
	if o.since != "" {
		var ok bool
		if since, ok = repo.ParseTime(o.since, e.Now()); !ok {
			return repo.NoTime("--since", o.since, "a time: 2h, 2026-11-21, or RFC 3339")
		}
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var calls []usage.Call
	misses := []usage.Miss{}
	seen := map[string]bool{}
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		infos, err := r.Store.List(ctx, scope)
		if err != nil {
			return err
		}
		slices.SortFunc(infos, func(a, b conversation.Info) int { return strings.Compare(string(a.ID), string(b.ID)) }) // sources before forks
		for _, i := range infos {
			if i.Err != nil || i.Summary.LastEventAt.Before(since) && !since.IsZero() {
				continue
			}
			events, err := r.Store.Load(ctx, i.Head)
			if err != nil {
				e.Note("jp left out %s: %v", i.ID, err)
				continue
			}
			calls = append(calls, usage.Calls(i.ID, events, seen)...)
			misses = append(misses, usage.Misses(i.ID, events)...)
		}
	}
	calls = slices.DeleteFunc(calls, func(c usage.Call) bool { return c.Time.Before(since) })
	misses = slices.DeleteFunc(misses, func(m usage.Miss) bool { return m.Time.Before(since) })
	if o.misses {
		return printMisses(e, misses)
	}
	sums, total := usage.Group(calls, o.by, e.Now().Location())
	return printUsage(e, o.by, sums, total)
}

func printMisses(e *ui.Env, misses []usage.Miss) error {
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), misses)
	}
	for _, m := range misses {
		if _, err := fmt.Fprintf(e.Results(), "%s@%d  %s  %d of %d from the cache: %s\n", m.Conversation, m.Seq, safetext.Show(m.Model), m.CacheRead, m.Input, safetext.Clean(m.Why)); err != nil {
			return err
		}
	}
	if len(misses) == 0 {
		e.Note("No call missed the cache.")
	}
	return nil
}

func printUsage(e *ui.Env, by string, sums []usage.Sum, total usage.Sum) error {
	if e.Format.Structured() {
		if sums == nil {
			sums = []usage.Sum{}
		}
		return ui.WriteJSON(e.Results(), map[string]any{"by": by, "groups": sums, "total": total})
	}
	w := tabwriter.NewWriter(e.Results(), 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "%s\tcalls\tin\tcached\tout\tcost\n", by)
	for _, s := range append(sums, total) {
		cost := "unknown"
		if s.CostUSD != "" {
			cost = conversation.Dollars(s.CostUSD)
			if s.Unpriced > 0 {
				cost += fmt.Sprintf(" and %s of unknown price", conversation.Count(s.Unpriced, "call"))
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d %%\t%d\t%s\n", safetext.Show(s.Key), s.Calls, s.Input, s.Cached(), s.Output, cost)
	}
	return w.Flush()
}
