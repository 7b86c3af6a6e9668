package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

// runTrustFilters is jp trust for the filters that the repository's git configuration
// defines.
func runTrustFilters(ctx context.Context, e *ui.Env, o trustOptions) error {
	r, err := e.FindRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.At.TopLevel == "" {
		return problem.Usage("a bare repository has no files for a filter to convert.")
	}
	if !o.show && toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	if o.revoke {
		done, err := r.FilterApprovals().Revoke()
		if err == nil {
			said := "No filter was approved here."
			if done {
				said = "The filters of this repository are not approved any more."
			}
			_, err = fmt.Fprintln(e.Messages(), said)
		}
		return err
	}
	sheet, err := r.FilterSheet(ctx)
	switch {
	case err != nil:
		return err
	case o.show || sheet.Approved:
		return tellFilters(sheet, e, o.show || sheet.Stuck)
	case !o.yes:
		if err := confirmFilters(ctx, e, sheet); err != nil {
			return err
		}
	}
	if err := r.FilterApprovals().Approve(sheet.Is); err != nil {
		return err
	}
	if sheet, err = r.FilterSheet(ctx); err != nil {
		return err
	}
	return tellFilters(sheet, e, sheet.Stuck)
}

// listFilters writes the filters as git prints their settings, and the differences to what was
// approved. Each line is as shown makes it.
func listFilters(s repo.FilterSheet, w io.Writer, shown func(string) string) {
	for _, f := range s.Filters {
		fmt.Fprintf(w, "%s, from %s", shown(safetext.Show(f.Name)), shown(safetext.Show(strings.Join(f.Origins, ", "))))
		if f.State == "refused" {
			fmt.Fprintf(w, ": cannot be approved, since it %s", shown(safetext.Show(f.Problem)))
		} else {
			fmt.Fprintf(w, ": %s", f.State)
		}
		fmt.Fprintln(w)
		for line := range strings.Lines(f.Text()) {
			fmt.Fprintf(w, "  %s\n", shown(safetext.Show(strings.TrimSuffix(line, "\n"))))
		}
		if f.State == "changed" {
			fmt.Fprintln(w, "  Since you approved it:")
			var change strings.Builder
			writeChange(&change, []byte(s.Before[f.Name].Text()), []byte(f.Text()))
			for line := range strings.Lines(change.String()) {
				fmt.Fprintf(w, "  %s\n", shown(strings.TrimSpace(line)))
			}
		}
	}
}

// How much of the filters is shown where they are asked about: lines, and columns of each.
const (
	shownFilterLines = 12
	shownFilterText  = 160
)

// askedFilters is the list as it is asked about, what is not approved yet first. It is bounded, so
// that no number of filters and no length of their text pushes its beginning off the screen.
func askedFilters(s repo.FilterSheet) string {
	first := s
	first.Filters = slices.Clone(s.Filters)
	slices.SortStableFunc(first.Filters, func(a, b repo.Filter) int {
		return cmp.Compare(slices.Index(filterStates, a.State), slices.Index(filterStates, b.State))
	})
	var list, b strings.Builder
	cut := false
	listFilters(first, &list, func(line string) string {
		shown := safetext.Bound(line, shownFilterText)
		cut = cut || shown != line
		return shown
	})
	lines := slices.Collect(strings.Lines(list.String()))
	for _, line := range lines[:min(len(lines), shownFilterLines)] {
		b.WriteString(line)
	}
	if more := len(lines) - shownFilterLines; more > 0 {
		fmt.Fprintf(&b, "… and %s.\n", conversation.Count(more, "more line"))
		cut = true
	}
	if cut {
		fmt.Fprintf(&b, "The answer is about the whole text of %s. See all of it with n, then:\n    %s\n", conversation.Count(len(s.Is), "filter"), action.TrustFilterShow)
	}
	return b.String()
}

// filterStates are the states of a filter, those first that an answer changes.
var filterStates = []string{"changed", "new", "refused", "approved"}

// confirmFilters shows the filters and asks.
func confirmFilters(ctx context.Context, e *ui.Env, s repo.FilterSheet) error {
	return e.Confirm(ctx, ui.Confirmation{
		List: func(w io.Writer, p terminal.Palette) {
			fmt.Fprintf(w, "%s\n\n", p.Bold("Filters of this repository, which git runs on its files:"))
			fmt.Fprintln(w, askedFilters(s))
		},
		Question: "Run these filters here, as they are?",
		Unasked: problem.New(problem.ExitDecision, "usage", "there is no terminal to ask whether the filters of this repository may run.").
			Hint(action.TrustFilterShow, "what they are").Hint(action.TrustFilterNow, "approve them without being asked"),
	})
}

// tellFilters writes the filters. It fails where one is not approved, if that matters.
func tellFilters(s repo.FilterSheet, e *ui.Env, strict bool) error {
	all := s.Filters
	if all == nil {
		all = []repo.Filter{}
	}
	var err error
	if e.Format.Structured() {
		err = ui.WriteJSON(e.Results(), map[string]any{"filters": all})
	} else {
		var b strings.Builder
		if len(all) == 0 {
			b.WriteString("This repository configures no filter that needs approval.\n")
		}
		listFilters(s, &b, func(line string) string { return line })
		_, err = io.WriteString(e.Results(), b.String())
	}
	if err == nil && strict && (!s.Approved || s.Stuck) {
		return &problem.Error{Exit: problem.ExitFailed, Silent: true}
	}
	return err
}
