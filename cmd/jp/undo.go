package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/ui"
	"jp/undo"
)

// putBackJSON describes the output of undo and restore in their help.
const putBackJSON = `JSON: {"action","conversation","as_of","event","dry_run","files":[{"path","done","reason"}]}:
the event whose files they are, and the one that records it (null: nothing was
put back).

`

// putBackExits are the exit codes of both from 2 on.
const putBackExits = `2 usage ·
3 nobody to ask, a tool call is open, or this is another working tree ·
4 locked · 5 no such event · 6 damaged ·
130, 143 a signal stopped it between two files, and what was put back is recorded`

const undoHelp = `Bring files back to what they were before an event; without E before the last
turn. Only what the tools of the conversation wrote, and only where it is still
what they wrote last: everything else is listed and left alone. The changes are
listed first, then you are asked. A file that came with HEAD meanwhile, as by git
switch or merge, comes back as HEAD brought it. No message is taken back, and an
undo can be undone.

` + putBackJSON + `Exit codes: 0 done, or nothing to do · 1 a file could not be written · ` + putBackExits

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
	if event == nil {
		if event, _, err = b.TurnEvents(b.LastTurn()); err != nil {
			return err
		}
	}
	b.Before(event)
	return e.PutBackScreen(b).Run(ctx)
}
