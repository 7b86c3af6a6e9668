package main

import (
	"context"

	"github.com/spf13/cobra"

	"jp/blame"
	"jp/cmd/jp/internal/ui"
)

const whyHelp = `Show which conversations the lines of a commit come from, with the events that
wrote them, and how many lines no conversation has. jp compares the commit with
its first parent, and finds the lines by their text as jp blame does. It also
shows the conversations that the message names in a trailer Jp-Conversation,
which anyone can write.

Exit codes: 0 done · 2 usage · 5 no such commit`

func newWhyCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "why COMMIT", GroupID: "look", Args: cobra.ExactArgs(1),
		Short: "Show which conversations the lines of a commit come from", Long: whyHelp,
		Example: "  jp why HEAD\n  jp why 3f2a9c1 --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return runWhy(cmd.Context(), e, args[0]) },
	}
}

func runWhy(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	index, err := blame.OpenIndex(ctx, r)
	if err != nil {
		return err
	}
	why, err := index.Why(ctx, word)
	if err != nil {
		return err
	}
	return ui.ShowWhy(why, e)
}
