package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent"
	"jp/cmd/jp/internal/ui"
)

func newContinueCommand(e *ui.Env) *cobra.Command {
	o := agent.Request{Input: agent.Input{None: true}}
	cmd := &cobra.Command{
		Use: "continue [ID]", Aliases: []string{"resume"}, GroupID: "ask", Args: cobra.MaximumNArgs(1),
		Short: "Resume an interrupted turn, or discard it",
		Long: `Resume the incomplete turn of a conversation. Recorded steps are not repeated.
jp asks open questions again, and tells the model what changed in the working
tree. The same as jp query --continue-turn.

With --discard the turn ends here: its events stay in git log, and readers and the
model skip them. If one of its tools still runs after its process has ended, jp
ends the tool and says so. jp query --discard-turn does the same, and then asks.

Exit codes: as jp query; 0 also if no turn is incomplete`,
		Example: "  jp continue\n  jp continue 4400 -y\n  jp continue --pending report --policy auto --non-interactive\n  jp continue --discard",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Target.ID, o.Resume.Continue = strings.Join(args, ""), !o.Resume.Discard
			return runQuery(cmd.Context(), e, o)
		},
	}
	runFlags(&o, cmd.Flags())
	resumeFlags(&o, cmd.Flags())
	cmd.Flags().BoolVar(&o.Resume.Discard, "discard", false, "discard the turn in place of resuming it")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "discard" {
			cmd.MarkFlagsMutuallyExclusive("discard", f.Name)
		}
	})
	return cmd
}
