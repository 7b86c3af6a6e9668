package main

import (
	"context"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
	"jp/undo"
)

const restoreHelp = `Bring files back to what they were after an event: all that the tools of the
conversation wrote since, or only the paths that are named. A file comes back
only where nobody but the tools wrote it since, and where it is still what they
wrote last: everything else is listed and left alone. The changes are listed
first, then you are asked. A restore can be undone.

` + putBackJSON + `Exit codes: 0 done, or nothing to do · 1 a file could not be written, or a path
that was named was left alone · ` + putBackExits

func newRestoreCommand(e *ui.Env) *cobra.Command {
	var o undo.Options
	cmd := &cobra.Command{
		Use: "restore @E [PATH…]", GroupID: "files",
		Short: "Bring files back to what they were after an event", Long: restoreHelp,
		Example: "  jp restore @18 --dry-run\n  jp restore @18 auth/\n  jp restore -y @turn:2 main.go",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return problem.Usage("jp restore needs the event whose files are wanted.").Hint("jp log", "the events").Hint("jp undo", "the files as before the last turn")
			}
			o.Action, o.Word, o.Paths = "restore", args[0], args[1:]
			return runRestore(cmd.Context(), e, o)
		},
	}
	ui.Flags(&o, cmd)
	return cmd
}

func runRestore(ctx context.Context, e *ui.Env, o undo.Options) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	b, event, err := undo.New(ctx, r, o)
	if err != nil {
		return err
	}
	defer b.Close()
	if event == nil {
		return problem.Usage("%s is a conversation; jp restore needs an event, as in %s@14.", o.Word, o.Word).About(b.ID)
	}
	if b.Opts.Paths, err = b.Repo.InTree(e.Host, o.Paths); err != nil {
		return err
	}
	if err := b.Known(ctx, event); err != nil {
		return err
	}
	b.After(event, b.Opts.Paths)
	return e.PutBackScreen(b).Run(ctx)
}
