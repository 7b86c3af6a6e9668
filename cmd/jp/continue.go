package main

import (
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/cmd/jp/internal/ui"
)

func newContinueCommand(e *ui.Env) *cobra.Command {
	o := agent.Request{Resume: agent.ResumeOptions{Continue: true}, Input: agent.Input{None: true}}
	cmd := &cobra.Command{
		Use: "continue [ID]", Aliases: []string{"resume"}, GroupID: "ask", Args: cobra.MaximumNArgs(1),
		Short: "Resume an interrupted turn",
		Long: `Resume the incomplete turn of a conversation. Recorded steps are not repeated.
jp asks open questions again, and tells the model what changed in the working
tree. The same as jp query --continue-turn.

Exit codes: as jp query; 0 also if no turn is incomplete`,
		Example: "  jp continue\n  jp continue 4400 -y\n  jp continue --pending report --policy auto --non-interactive",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Target.ID = strings.Join(args, "")
			return runQuery(cmd.Context(), e, o)
		},
	}
	runFlags(&o, cmd.Flags())
	resumeFlags(&o, cmd.Flags())
	return cmd
}

func newDiscardCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "discard [ID]", GroupID: "ask", Args: cobra.MaximumNArgs(1),
		Short: "Discard an interrupted turn",
		Long: `Discard the incomplete turn of a conversation. Its events stay in git log.
Readers and the model skip them. If one of its tools still runs after its process
has ended, jp ends the tool and says so. jp query --discard-turn does the same,
and then asks.

Exit codes: as jp query; 0 also if no turn is incomplete`,
		Example: "  jp discard\n  jp discard 4400",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runQuery(cmd.Context(), e, agent.Request{Resume: agent.ResumeOptions{Discard: true}, Input: agent.Input{None: true}, Target: agent.Target{ID: strings.Join(args, "")}})
		},
	}
}
