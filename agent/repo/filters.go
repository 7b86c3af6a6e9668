package repo

import (
	"context"
	"slices"

	"jp/config"
	"jp/gitcmd"
	"jp/gitcmd/approval"
)

// FilterApprovals are what the user has approved of this working tree's filters.
func (r *Repo) FilterApprovals() approval.Approvals {
	return approval.Approvals{Dir: trustFolder(r.Paths), Repo: r.At, Environ: r.Env.Environ}
}

// A FilterSheet is the filters of a repository with what is approved of them.
type FilterSheet struct {
	Filters  []Filter
	Is       []approval.Filter // what can be approved, and is needed
	Before   map[string]approval.Filter
	Approved bool // all that can be
	Stuck    bool // one cannot be
}

// A Filter is a filter as programs read it.
type Filter struct {
	approval.Filter
	Origins []string `json:"origins"`
	State   string   `json:"state"`   // approved, changed, new or refused
	Problem string   `json:"problem"` // why it cannot be approved
}

// FilterSheet looks at the filters as they are now. Those of the user's own are not
// among them, unless they start a program of the repository.
func (r *Repo) FilterSheet(ctx context.Context) (FilterSheet, error) {
	filters, err := r.Git.Filters(ctx)
	if err != nil {
		return FilterSheet{}, err
	}
	approvals := r.FilterApprovals()
	s := FilterSheet{Before: approvals.Approved(), Approved: true}
	for _, f := range filters {
		is, problem := approvals.Examine(f)
		refused := approvals.MayRun(f)
		if f.UserOnly && refused == nil || !f.Runs() {
			continue
		}
		j := Filter{Filter: is, Origins: f.Origins, State: "approved"}
		switch was, known := s.Before[f.Name]; {
		case problem != nil:
			j.State, j.Problem, s.Stuck = "refused", problem.Error(), true
		case refused != nil && known && !was.Same(is):
			j.State, s.Approved = "changed", false
		case refused != nil:
			j.State, s.Approved = "new", false
		}
		if problem == nil {
			s.Is = append(s.Is, is)
		}
		s.Filters = append(s.Filters, j)
	}
	return s, nil
}

// Unapproved are the names of the filters that jp does not run here, sorted.
func (s FilterSheet) Unapproved() (names []string) {
	for _, f := range s.Filters {
		if f.State != "approved" {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// GitOptions start git in the user's environment, with the filters that the user has
// approved in the working tree that it is for.
func (h *Host) GitOptions() gitcmd.Options {
	return gitcmd.Options{Environ: h.Environ, MayRun: func(at gitcmd.Repository, f gitcmd.Filter) error {
		approvals := approval.Approvals{Repo: at, Environ: h.Environ}
		if paths, err := config.FindPaths(h.Environ); err == nil {
			approvals.Dir = trustFolder(paths)
		}
		return approvals.MayRun(f)
	}}
}
