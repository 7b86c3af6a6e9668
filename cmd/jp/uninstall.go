package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/doctor"
)

const uninstallHelp = `Take jp out of this repository: its conversations, its folder in the git directory,
the hook that jp hooks installed, and the backups of this repository's files. jp
lists them and then asks. Your files, .jp in the working tree, git's configuration
and jp itself stay.

JSON: docs/json.md

Exit codes: 0 done, or jp has nothing here · 2 usage · 3 no terminal to ask ·
4 a conversation is running`

func newUninstallCommand(e *ui.Env) *cobra.Command {
	var yes, dry bool
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Take jp out of this repository", GroupID: "setup", Args: cobra.NoArgs, Long: uninstallHelp,
		Example: "  jp uninstall --dry-run\n  git bundle create conversations.bundle --glob='refs/jp/*' && jp uninstall",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUninstall(cmd.Context(), e, yes, dry) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list what would go, and change nothing")
	return cmd
}

func runUninstall(ctx context.Context, e *ui.Env, yes, dry bool) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	if toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	u, err := doctor.NewRemoval(ctx, r, program)
	if err != nil {
		return err
	}
	list := func(w io.Writer, _ terminal.Palette) {
		fmt.Fprintf(w, "From %s:\n  %s\n%s\n", r.Place(), strings.Join(u.Words(), "\n  "), u.Lost())
	}
	switch {
	case u.Empty():
		e.Note("jp has nothing in %s.", r.Place())
	case dry && !e.Format.Structured():
		list(e.Results(), terminal.Palette{})
	case !dry && !yes:
		unasked := problem.New(problem.ExitDecision, "usage", "jp uninstall asks, and there is no terminal. --dry-run lists what would go, and -y takes it out without a question.")
		err = e.Confirm(ctx, ui.Confirmation{Question: "Take this out?", List: list, Unasked: unasked})
	}
	if err == nil && !dry && !u.Empty() {
		if err = u.Do(ctx); err == nil {
			e.Note("Took jp out of %s.", r.Place())
		}
	}
	if err == nil && e.Format.Structured() {
		u.DryRun = dry
		return ui.WriteJSON(e.Results(), u)
	}
	return err
}
