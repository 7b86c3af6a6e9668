package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"jp/cmd/jp/internal/terminal"
	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitcmd/approval"
	"jp/internal/safetext"
)

// filterApprovals are what the user has approved of this working tree's filters.
func (r *repo) filterApprovals() approval.Approvals {
	return approval.Approvals{Dir: trustFolder(r.paths), Repo: r.Repository, Environ: r.env.environ}
}

// A filterSheet is the filters of a repository with what is approved of them.
type filterSheet struct {
	filters  []filterJSON
	is       []approval.Filter // what can be approved, and is needed
	before   map[string]approval.Filter
	approved bool // all that can be
	stuck    bool // one cannot be
}

// A filterJSON is a filter as programs read it.
type filterJSON struct {
	approval.Filter
	Origins []string `json:"origins"`
	State   string   `json:"state"`   // approved, changed, new or refused
	Problem string   `json:"problem"` // why it cannot be approved
}

// runTrustFilters is jp trust for the filters that the repository's git configuration
// defines.
func runTrustFilters(ctx context.Context, e *env, o trustOptions) error {
	r, err := e.findRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.TopLevel == "" {
		return usage("a bare repository has no files for a filter to convert.")
	}
	if !o.show && r.fromProgram() {
		return fail(exitDecision, "untrusted", "%v.", errFromTool)
	}
	if o.revoke {
		done, err := r.filterApprovals().Revoke()
		if err == nil {
			said := "No filter was approved here."
			if done {
				said = "The filters of this repository are not approved any more."
			}
			_, err = fmt.Fprintln(e.stderr, said)
		}
		return err
	}
	sheet, err := r.filterSheet(ctx)
	switch {
	case err != nil:
		return err
	case o.show || sheet.approved:
		return sheet.tell(e, o.show || sheet.stuck)
	case !o.yes:
		if err := e.confirmFilters(ctx, sheet); err != nil {
			return err
		}
	}
	if err := r.filterApprovals().Approve(sheet.is); err != nil {
		return err
	}
	if sheet, err = r.filterSheet(ctx); err != nil {
		return err
	}
	return sheet.tell(e, sheet.stuck)
}

// filterSheet looks at the filters as they are now. Those of the user's own are not
// among them, unless they start a program of the repository.
func (r *repo) filterSheet(ctx context.Context) (filterSheet, error) {
	filters, err := r.git.Filters(ctx)
	if err != nil {
		return filterSheet{}, err
	}
	approvals := r.filterApprovals()
	s := filterSheet{before: approvals.Approved(), approved: true}
	for _, f := range filters {
		is, problem := approvals.Examine(f)
		refused := approvals.MayRun(f)
		if f.Own && refused == nil || !f.Runs() {
			continue
		}
		j := filterJSON{Filter: is, Origins: f.Origins, State: "approved"}
		switch was, known := s.before[f.Name]; {
		case problem != nil:
			j.State, j.Problem, s.stuck = "refused", problem.Error(), true
		case refused != nil && known && !was.Same(is):
			j.State, s.approved = "changed", false
		case refused != nil:
			j.State, s.approved = "new", false
		}
		if problem == nil {
			s.is = append(s.is, is)
		}
		s.filters = append(s.filters, j)
	}
	return s, nil
}

// list writes the filters as git prints their settings, and the differences to what was
// approved. Each line is as shown makes it.
func (s filterSheet) list(w io.Writer, shown func(string) string) {
	for _, f := range s.filters {
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
			writeChange(&change, []byte(s.before[f.Name].Text()), []byte(f.Text()))
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

// asked is the list as it is asked about, what is not approved yet first. It is bounded, so
// that no number of filters and no length of their text pushes its beginning off the screen.
func (s filterSheet) asked() string {
	first := s
	first.filters = slices.Clone(s.filters)
	slices.SortStableFunc(first.filters, func(a, b filterJSON) int {
		return cmp.Compare(slices.Index(filterStates, a.State), slices.Index(filterStates, b.State))
	})
	var list, b strings.Builder
	cut := false
	first.list(&list, func(line string) string {
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
		fmt.Fprintf(&b, "The answer is about the whole text of %s. See all of it with n, then:\n    jp trust --filters --show\n", conversation.Count(len(s.is), "filter"))
	}
	return b.String()
}

// filterStates are the states of a filter, those first that an answer changes.
var filterStates = []string{"changed", "new", "refused", "approved"}

// confirmFilters shows the filters and asks.
func (e *env) confirmFilters(ctx context.Context, s filterSheet) error {
	return e.confirm(ctx, confirmation{
		list: func(w io.Writer, p terminal.Palette) {
			fmt.Fprintf(w, "%s\n\n", p.Bold("Filters of this repository, which git runs on its files:"))
			fmt.Fprintln(w, s.asked())
		},
		question: "Run these filters here, as they are?",
		unasked: fail(exitDecision, "usage", "there is no terminal to ask whether the filters of this repository may run.").
			hint("jp trust --filters --show", "what they are").hint("jp trust --filters -y", "approve them without being asked"),
	})
}

// tell writes the filters. It fails where one is not approved, if that matters.
func (s filterSheet) tell(e *env, strict bool) error {
	all := s.filters
	if all == nil {
		all = []filterJSON{}
	}
	var err error
	if e.format.structured() {
		err = writeJSON(e.results(), map[string]any{"filters": all})
	} else {
		var b strings.Builder
		if len(all) == 0 {
			b.WriteString("This repository configures no filter that needs approval.\n")
		}
		s.list(&b, func(line string) string { return line })
		_, err = io.WriteString(e.results(), b.String())
	}
	if err == nil && strict && (!s.approved || s.stuck) {
		return &failure{exit: exitFailed, silent: true}
	}
	return err
}

// unapproved are the names of the filters that jp does not run here, sorted.
func (s filterSheet) unapproved() (names []string) {
	for _, f := range s.filters {
		if f.State != "approved" {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// gitOptions start git in the user's environment, with the filters that the user has
// approved in the working tree that it is for.
func (h *host) gitOptions() gitcmd.Options {
	return gitcmd.Options{Environ: h.environ, MayRun: func(at gitcmd.Repository, f gitcmd.Filter) error {
		approvals := approval.Approvals{Repo: at, Environ: h.environ}
		if paths, err := config.FindPaths(h.environ); err == nil {
			approvals.Dir = trustFolder(paths)
		}
		return approvals.MayRun(f)
	}}
}
