package main

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/blame"
	"jp/cmd/jp/internal/ui"
	"jp/export"
	"jp/internal/safetext"
)

const pullRequestHelp = `Write Markdown for a pull request: which conversations the new lines of each commit
come from, the questions that led to them, who allowed what, the tests that were run,
and the cost. RANGE is one of git log, such as main.. or v1..HEAD. Without it, these
are the commits of HEAD that the default branch of the remote, or main or master,
does not have. Merges are left out.

jp finds lines as jp blame does, and believes no trailer. Secrets are replaced as in
an export. Everything that people, models and the repository wrote is code in the
Markdown, so that a forge shows it as it is.

JSON: {"range","commits","lines","unknown","conversations","talks":[{"id","title",
"requests","decisions","tests","usage"}]}

Exit codes: 0 done · 2 usage · 5 no such range, or it is empty · 6 a conversation is
damaged: the rest was written`

func newPullRequestCommand(e *ui.Env) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "pr [RANGE]", GroupID: "share", Args: cobra.MaximumNArgs(1),
		Short: "Write the text of a pull request: questions, permissions, tests", Long: pullRequestHelp,
		Example: "  jp pr\n  jp pr main.. -o pr.md\n  jp pr HEAD~3.. --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPullRequest(cmd.Context(), e, args, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write `FILE` in place of stdout")
	return cmd
}

func runPullRequest(ctx context.Context, e *ui.Env, args []string, output string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	commits, left, err := commitsOf(ctx, r, args)
	if err != nil {
		return err
	}
	if len(commits.Commits) == 0 {
		return problem.New(problem.ExitNotFound, "not_found", "%s has no commits.", safetext.Show(commits.Range))
	}
	p, err := export.NewPullRequest(ctx, r, commits)
	if err != nil {
		return err
	}
	err = exportOptions{output: output}.put(e, func(w io.Writer) error {
		if e.Format.Structured() {
			return ui.WriteJSON(w, p)
		}
		_, err := w.Write(p.Markdown())
		return err
	})
	if err != nil {
		return err
	}
	if len(commits.Conversations) == 0 {
		e.Note("No conversation has lines of these commits.")
	}
	maps.Copy(left, p.Left)
	return leftOut(ctx, e, left)
}

// commitsOf explains the commits of a range. Conversations that cannot be read whole may have more of their
// lines.
func commitsOf(ctx context.Context, r *repo.Repo, args []string) (*blame.Commits, map[string]error, error) {
	index, err := blame.OpenIndex(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	commits, err := index.Commits(ctx, append(args, "")[0])
	if err != nil {
		return nil, nil, err
	}
	return commits, index.Left, nil
}

// leftOut names what could not be read whole, and returns the last error.
func leftOut(ctx context.Context, e *ui.Env, left map[string]error) error {
	names := slices.Sorted(maps.Keys(left))
	return ui.ForEach(ctx, e, names, func(name string) error { return left[name] })
}
