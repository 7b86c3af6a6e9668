package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
)

func newRefCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "ref [ID][@E]", Short: "Print a conversation's ref, or an event's commit", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Long: `Print the full name of a conversation's ref, or with @E the commit of an event,
for git commands.

Exit codes: 0 done · 2 usage, or this session has no conversation ·
5 no such conversation or event, or it is incomplete here · 6 damaged`,
		Example: "  git log main..$(jp ref)\n  git diff $(jp ref @9) $(jp ref @30)",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRef(cmd.Context(), e, strings.Join(args, ""))
		},
	}
}

func runRef(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	target, event := repo.SplitTarget(word)
	if event == "" {
		info, err := r.Find().Known(ctx, e.Host, target)
		if info.Ref == "" {
			return err
		}
		return printRef(e, "ref", info.Ref)
	}
	_, found, err := r.Find().ViewEvent(ctx, e.Host, word)
	if err != nil {
		return err
	}
	return printRef(e, "commit", found.Commit)
}

func printRef(e *ui.Env, key, value string) error {
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), map[string]string{key: value})
	}
	_, err := fmt.Fprintln(e.Results(), value)
	return err
}
