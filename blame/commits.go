package blame

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/gitcmd"
	"jp/internal/action"
)

// Commits are explained commits, and the conversations that the new lines of all of them come from.
type Commits struct {
	Range         string         `json:"range"`
	Commits       []*Explanation `json:"commits"` // the oldest first
	Lines         int            `json:"lines"`
	Unknown       int            `json:"unknown"`
	Conversations []Share        `json:"conversations"`
}

// Commits explains the commits of a range, without merges: their lines are those of their parents. ""
// stands for the commits of HEAD that the default branch lacks.
func (x *Index) Commits(ctx context.Context, within string) (*Commits, error) {
	if within == "" {
		var err error
		if within, err = newCommits(ctx, x.repo); err != nil {
			return nil, err
		}
	}
	unknown := problem.New(problem.ExitNotFound, "not_found", "git knows no range %q.", within)
	if strings.HasPrefix(within, "-") {
		return nil, unknown
	}
	out, err := x.repo.Git.RunWith(ctx, gitcmd.Command{Args: []string{"rev-list", "--reverse", "--topo-order", "--no-merges", within, "--"}})
	if exit := (*gitcmd.ExitError)(nil); errors.As(err, &exit) {
		return nil, unknown
	}
	if err != nil {
		return nil, fmt.Errorf("list the commits of %.60q: %w", within, err)
	}
	all, by := &Commits{Range: within, Commits: []*Explanation{}}, shares{}
	for oid := range strings.FieldsSeq(string(out)) {
		why, err := x.Why(ctx, oid)
		if err != nil {
			return nil, err
		}
		all.Commits = append(all.Commits, why)
		all.Lines, all.Unknown = all.Lines+why.Lines, all.Unknown+why.Unknown
		for _, s := range why.Conversations {
			by.add(s.Conversation, s.Lines, s.Events...)
		}
	}
	all.Conversations = by.of(max(1, all.Lines))
	return all, nil
}

// newCommits is the range of the commits of HEAD that the default branch lacks: the remote's, or a branch
// that is usually the default.
func newCommits(ctx context.Context, r *repo.Repo) (string, error) {
	for _, name := range []string{"remotes/origin/HEAD", "remotes/origin/main", "remotes/origin/master", "heads/main", "heads/master"} {
		if oid, err := revision(ctx, r, "refs/"+name+"^{commit}"); oid != "" || err != nil {
			return name[strings.IndexByte(name, '/')+1:] + "..HEAD", err
		}
	}
	return "", problem.Usage("jp finds no default branch: there is no main or master. Name the commits, such as BRANCH..HEAD.").
		Hint(action.Help("jp", "pr"), "the ranges, with examples")
}
