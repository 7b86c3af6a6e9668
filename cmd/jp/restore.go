package main

import (
	"context"

	"github.com/spf13/cobra"
)

const restoreHelp = `Bring files back to what they were after an event: all that the tools of the
conversation wrote since, or only the paths that are named. A file comes back
only where nobody but the tools wrote it since, and where it is still what they
wrote last: everything else is listed and left alone. The changes are listed
first, then you are asked. A restore can be undone.

` + putBackJSON + `Exit codes: 0 done, or nothing to do · 1 a file could not be written, or a path
that was named was left alone · ` + putBackExits

func newRestoreCommand(e *env) *cobra.Command {
	var o putBackOptions
	cmd := &cobra.Command{
		Use: "restore @E [PATH…]", GroupID: "files",
		Short: "Bring files back to what they were after an event", Long: restoreHelp,
		Example: "  jp restore @18 --dry-run\n  jp restore @18 auth/\n  jp restore -y @turn:2 main.go",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("jp restore needs the event whose files are wanted.").hint("jp log", "the events").hint("jp undo", "the files as before the last turn")
			}
			o.action, o.word, o.paths = "restore", args[0], args[1:]
			return runRestore(cmd.Context(), e, o)
		},
	}
	o.flags(cmd)
	return cmd
}

func runRestore(ctx context.Context, e *env, o putBackOptions) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	b, event, err := newPutBack(ctx, r, o)
	if err != nil {
		return err
	}
	defer b.close()
	if event == nil {
		return usage("%s is a conversation; jp restore needs an event, as in %s@14.", o.word, o.word).about(b.id)
	}
	if b.opts.paths, err = b.repo.inTree(e.host, o.paths); err != nil {
		return err
	}
	if err := b.known(ctx, event); err != nil {
		return err
	}
	b.after(event, b.opts.paths)
	return e.putBackScreen(b).run(ctx)
}
