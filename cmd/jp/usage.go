package main

import (
	"context"
	"fmt"
	"io"
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
	var infos []conversation.Info
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		list, err := r.States().All(ctx, scope, "")
		if err != nil {
			return err
		}
		for _, l := range list {
			infos = append(infos, conversation.Info{ID: conversation.ID(l.ID), Head: l.Head, Err: l.Err, Summary: conversation.Summary{LastEventAt: l.Active()}})
		}
	}
	progress := e.Progress("conversations read", len(infos))
	defer progress.Stop()
	reader := usage.CachedReader{Store: r.Store, Own: r.StateDir(), Step: progress.Step, Left: func(i conversation.Info, err error) {
		progress.Stop()
		e.Note("jp left out %s: %v", i.ID, err)
	}}
	calls, misses, err := reader.Read(ctx, infos, since)
	if err != nil {
		return err
	}
	progress.Stop()
	if o.misses {
		if e.Format.Structured() {
			if misses == nil {
				misses = []usage.Miss{}
			}
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
	sums, total := usage.Group(calls, o.by, e.Now().Location())
	return printUsage(e, o.by, sums, total)
}

func printUsage(e *ui.Env, by string, sums []usage.Sum, total usage.Sum) error {
	if e.Format.Structured() {
		if sums == nil {
			sums = []usage.Sum{}
		}
		return ui.WriteJSON(e.Results(), map[string]any{"by": by, "groups": sums, "total": total})
	}
	_, err := io.WriteString(e.Results(), usageTable(by, append(sums, total), resultColumns(e)))
	return err
}

// usageTable is the sums as a table. If that is wider than a terminal, each key has a line of its own.
func usageTable(by string, sums []usage.Sum, width int) string {
	var table, numbers strings.Builder
	wide, narrow := tabwriter.NewWriter(&table, 0, 0, 3, ' ', 0), tabwriter.NewWriter(&numbers, 0, 0, 3, ' ', 0)
	keys := []string{by}
	for _, s := range sums {
		keys = append(keys, safetext.Show(s.Key))
	}
	rows := []string{"calls\tin\tcached\tout\tcost"}
	for _, s := range sums {
		cost := "unknown"
		if s.CostUSD != "" {
			cost = conversation.Dollars(s.CostUSD)
			if s.Unpriced > 0 {
				cost += fmt.Sprintf(" and %s of unknown price", conversation.Count(s.Unpriced, "call"))
			}
		}
		rows = append(rows, fmt.Sprintf("%d\t%d\t%d %%\t%d\t%s", s.Calls, s.Input, s.Cached(), s.Output, cost))
	}
	for i, row := range rows {
		fmt.Fprintln(wide, keys[i]+"\t"+row)
		fmt.Fprintln(narrow, "  "+row)
	}
	_, _ = wide.Flush(), narrow.Flush() // a builder takes everything
	if width == 0 || !slices.ContainsFunc(strings.Split(table.String(), "\n"), func(line string) bool { return safetext.Columns(line) > width }) {
		return table.String()
	}
	var b strings.Builder
	for i, row := range slices.Collect(strings.Lines(numbers.String())) {
		b.WriteString(keys[i] + "\n" + row)
	}
	return b.String()
}
