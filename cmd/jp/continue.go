package main

import (
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/cmd/jp/internal/ui"
)

func newContinueCommand(e *ui.Env) *cobra.Command {
	o := agent.Request{ContinueTurn: true, Bare: true}
	cmd := &cobra.Command{
		Use: "continue [ID]", Aliases: []string{"resume"}, GroupID: "ask", Args: cobra.MaximumNArgs(1),
		Short: "Go on with a turn that was broken off",
		Long: "Go on with the incomplete turn of a conversation: what is recorded is not done again, open questions are asked\n" +
			"again, and the model is told what the working tree says really happened. The same as jp query --continue-turn.\n\n" +
			"Exit codes: as jp query; 0 also where nothing is incomplete",
		Example: "  jp continue\n  jp continue 4400 -y\n  jp continue --pending report --policy auto --non-interactive",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ID = strings.Join(args, "")
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
		Short: "Take back a turn that was broken off",
		Long: "Take back the incomplete turn of a conversation. Its events stay in git log; readers and the model skip them.\n" +
			"A tool of it that still runs, though its process has ended, is ended, and that is said.\n" +
			"The same as jp query --discard-turn, and it asks nothing afterwards.\n\nExit codes: as jp query; 0 also where nothing is incomplete",
		Example: "  jp discard\n  jp discard 4400",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runQuery(cmd.Context(), e, agent.Request{DiscardTurn: true, Bare: true, ID: strings.Join(args, "")})
		},
	}
}
