package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/agent"
	"jp/cmd/jp/internal/terminal"
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
			if adopted, err := adoptRecording(cmd.Context(), e, o.Target.ID); err != nil {
				return err
			} else if adopted {
				o.Target.ID = ""
			}
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

// adoptRecording asks whether a recording of another agent goes on here, in a fork of it. It leaves any other
// conversation alone.
func adoptRecording(ctx context.Context, e *ui.Env, word string) (adopted bool, err error) {
	if word == "" || !ui.HasTerminal() {
		return false, nil
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return false, err
	}
	defer r.Close()
	id, err := r.Find().Resolve(ctx, e.Host, word)
	if err != nil {
		return false, err
	}
	w, is := r.Standings().Recording(id)
	if !is {
		return false, nil
	}
	question := "It is a recording of " + w.Format + ". Go on in a fork that is yours?"
	if r.Standings().Recorder(id) != "" {
		question = w.Format + " still runs in it. Go on from here in a fork that is yours?"
	}
	if err := e.Confirm(ctx, ui.Confirmation{ID: id, Question: question, List: func(io.Writer, terminal.Palette) {}}); err != nil {
		return false, err
	}
	return true, runFork(ctx, e, forkOptions{word: string(id), adopt: true, activate: true})
}
