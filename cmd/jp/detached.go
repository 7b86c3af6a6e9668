package main

import (
	"context"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/live"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
)

// newDetachedCommand is the command with which jp starts itself in the background. A person cannot
// type it: its input comes in descriptors.
func newDetachedCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "detached ID", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Run a turn in the background (jp starts this itself)",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDetached(cmd.Context(), e, args[0])
		},
	}
}

// runDetached resumes a turn in the background.
func runDetached(ctx context.Context, e *ui.Env, word string) error {
	id, err := conversation.ParseID(word)
	if err != nil {
		return err
	}
	h, err := live.TakeHandover(id)
	if err != nil {
		return err
	}
	e.Dir, e.Cfg, e.Quiet = h.Order.Dir, h.Order.CFG, h.Order.Quiet
	r, err := e.FindRepo(ctx)
	if err == nil {
		defer r.Close()
		err = agent.RunDetached(ctx, e.Frontend(r, agent.Request{}), r, h)
	}
	h.Failed(err)
	return err
}
