package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/undo"
)

const undoHelp = `Bring files back to their state before an event or a turn (@turn:2), by default before
the last turn.
A file comes back if the conversation's tools wrote it, and if it is unchanged
since. jp lists all other files and leaves them alone. jp lists the changes
first, and then asks. A file that came with HEAD meanwhile, as by git switch or
merge, comes back as HEAD brought it. Messages stay, and you can undo an undo.

JSON: {"action","conversation","as_of","event","dry_run","files":[{"path","done","reason"}]}:
as_of is the event of the files, and event records the change (null: no file
changed).

Exit codes: 0 done, or nothing to do · 1 a file could not be written · 2 usage ·
3 no terminal to ask, a tool call is open, or this is another working tree ·
4 locked · 5 no such event · 6 damaged, as far back as jp reads; jp verify
finds damage further back ·
130, 143 a signal stopped it between two files; the files so far are recorded`

func newUndoCommand(e *ui.Env) *cobra.Command {
	var o undo.Options
	cmd := &cobra.Command{
		Use: "undo [@E]", GroupID: "files", Args: cobra.MaximumNArgs(1),
		Short: "Bring files back to before the last turn, or before an event", Long: undoHelp,
		Example: "  jp undo --dry-run\n  jp undo -y\n  jp undo @30\n  jp undo 4400@turn:2",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Action, o.Word = "undo", strings.Join(args, "")
			return runUndo(cmd.Context(), e, o)
		},
	}
	ui.Flags(&o, cmd)
	return cmd
}

func runUndo(ctx context.Context, e *ui.Env, o undo.Options) error {
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
	turn := b.View.LastTurn()
	_, word := repo.SplitTarget(o.Word)
	if strings.HasPrefix(word, "turn:") {
		turn, event = event.Turn, nil // before its first event, where @turn:N alone is the last one
	}
	if event == nil {
		if event, _, err = b.View.TurnEvents(turn); err != nil {
			return err
		}
	}
	b.Before(event)
	return e.PutBackScreen(b).Run(ctx)
}
