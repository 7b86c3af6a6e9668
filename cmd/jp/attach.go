package main

import (
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/ui"
)

const attachHelp = `Watch a running turn from this terminal: its events so far, then each new one.
jp asks the turn's questions here, and Ctrl+C opens the menu. Ctrl+Z or Ctrl+\
leaves, and the turn goes on. Piped, or with --json, jp only follows the turn.
With --after, a reader that was cut off goes on where it was, and gets each event
once.

JSON: docs/json.md

Exit codes: 0 left, or the turn is complete · 1 nothing runs, or the process is
gone · 2 usage · 3 nothing runs and the turn is incomplete · 4 another terminal
is attached · 5 no such conversation; else as jp query`

func newAttachCommand(e *ui.Env) *cobra.Command {
	o := ui.AttachOptions{Tail: -1, After: -1}
	cmd := &cobra.Command{
		Use: "attach [ID]", Short: "Watch a running turn, and answer its questions", GroupID: "run", Args: cobra.MaximumNArgs(1),
		Long:    attachHelp,
		Example: "  jp attach\n  jp attach 4400 --tail 5\n  jp attach 4400 --json | jq -c 'select(.type==\"tool_call_response\")'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := atLeast(cmd.Flags(), 0, "tail", "after"); err != nil {
				return err
			}
			return ui.RunAttach(cmd.Context(), e, o, strings.Join(args, ""))
		},
	}
	cmd.Flags().IntVar(&o.Tail, "tail", -1, "begin with the last `N` events and the current turn; 0: only the waiting question")
	cmd.Flags().IntVar(&o.After, "after", -1, "begin after the event with this `NUMBER`")
	cmd.MarkFlagsMutuallyExclusive("tail", "after")
	cmd.Flags().BoolVar(&o.Partial, "partial", false, "with jsonl: also text that still streams")
	return cmd
}
