package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/takeback"
	"jp/conversation"
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
	b, event, err := newPutBack(ctx, e, o)
	if err != nil {
		return err
	}
	defer b.close()
	if event == nil {
		return usage("%s is a conversation; jp restore needs an event, as in %s@14.", o.word, o.word).about(b.id)
	}
	if b.opts.paths, err = b.repo.inTree(e, o.paths); err != nil {
		return err
	}
	if err := b.known(ctx, event); err != nil {
		return err
	}
	b.asOf, b.since, b.when = event.Seq, event.Seq+1, fmt.Sprintf("after @%d", event.Seq)
	b.decide = func(h takeback.History) []takeback.File { return h.After(event.Seq, b.opts.paths) }
	return b.run(ctx)
}

// known refuses a named path that neither the event's files nor the newest ones
// have, and that no event touched in between.
func (b *putBack) known(ctx context.Context, event *conversation.Event) error {
	h, err := b.history(ctx)
	if err != nil {
		return err
	}
	for _, path := range b.opts.paths {
		one := []string{path}
		out, err := b.repo.git.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", event.Tree, "--", path)
		if err != nil {
			return fmt.Errorf("look for %s in event %d: %w", path, event.Seq, err)
		}
		touched := false
		for _, s := range h.Steps {
			for _, m := range s.Moves {
				touched = touched || takeback.Under(m.Path, one)
			}
		}
		if len(out) == 0 && !touched && path != "." {
			return fail(exitNotFound, "not_found", "no snapshot of %s has %s.", b.id, path).about(b.id).
				hint(fmt.Sprintf("jp diff @%d.. --name-only", event.Seq), "the files that changed since")
		}
	}
	return nil
}
