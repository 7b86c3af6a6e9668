package main

import (
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/cmd/jp/internal/ui"
)

const attachHelp = `Watch a running turn from this terminal: its events so far, then each new one.
jp asks the turn's questions here, and Ctrl+C opens the menu. Ctrl+Z or Ctrl+\
leaves, and the turn goes on. Piped, or with --json, jp only follows the turn.
With --after, a reader that was cut off goes on where it was, and gets each event
once.

With --wait, jp prints nothing of the turns. It waits until each conversation's
turn ends or a question waits, and returns the result as the exit code: 0 the turn
is complete, 1 it ended incomplete, 3 it waits for an answer, which jp prints, 124
the time is up. --for idle waits through questions while a process runs. --for
input waits while a turn can still ask a question.

JSON: docs/json.md

Exit codes: 0 left, or the turn is complete · 1 nothing runs, or the process is
gone · 2 usage · 3 nothing runs and the turn is incomplete · 4 another terminal
is attached · 5 no such conversation; else as jp query`

func newAttachCommand(e *ui.Env) *cobra.Command {
	o, wait := ui.AttachOptions{Tail: -1, After: -1}, waitOptions{}
	cmd := &cobra.Command{
		Use: "attach [ID…]", Short: "Watch a running turn, answer its questions, or wait for its end", GroupID: "run", Long: attachHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && !wait.asked {
				return problem.Usage("jp attach takes one conversation. With --wait it takes several.")
			}
			return nil
		},
		Example: "  jp attach\n  jp attach 4400 --tail 5\n  jp attach 4400 --json | jq -c 'select(.type==\"tool_call_response\")'\n  jp attach --wait 4400 && make deploy",
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait.asked {
				wait.words = args
				return runWait(cmd.Context(), e, wait)
			}
			if cmd.Flags().Changed("for") || cmd.Flags().Changed("timeout") {
				return problem.Usage("--for and --timeout need --wait.")
			}
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
	cmd.Flags().BoolVar(&wait.asked, "wait", false, "wait for the end of the turns, or for a question")
	cmd.Flags().StringVar(&wait.until, "for", "", "with --wait: wait for this: `idle or input`")
	cmd.Flags().Var((*period)(&wait.timeout), "timeout", "with --wait: give up after a `DURATION` such as 10m (default never)")
	for _, name := range []string{"tail", "after", "partial"} {
		cmd.MarkFlagsMutuallyExclusive("wait", name)
	}
	return cmd
}
