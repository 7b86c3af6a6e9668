package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/gitstore/packing"
	"jp/internal/action"
)

// idle is the lowest priority that a process can have.
const idle = 19

func newPackCommand(e *ui.Env) *cobra.Command {
	var background bool
	cmd := &cobra.Command{
		Use: "pack", Short: "Pack the conversations' loose objects", Hidden: true, Args: cobra.NoArgs,
		Long: "Move the loose objects of conversations into a git pack. All other objects, and all\n" +
			"refs, stay as they are. jp does this itself in the background after a turn, once\n" +
			fmt.Sprintf("there are about %d of them, or 64 MiB. store.packing=off leaves it to you.\n\n", packing.Enough) +
			"Exit codes: 0 done · 1 the repository cannot be written to · 4 another process packs",
		Example: "  jp pack",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runPack(cmd.Context(), e, background) },
	}
	cmd.Flags().BoolVar(&background, "background", false, "give way to whatever else the machine does")
	cmd.Flags().Lookup("background").Hidden = true
	return cmd
}

type packedJSON struct {
	Packed int `json:"packed"`
	Merged int `json:"merged"`
	Left   int `json:"left"`
}

func runPack(ctx context.Context, e *ui.Env, background bool) error {
	if background {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, idle) // a courtesy
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	done, err := r.Store.Packer().Pack(ctx)
	switch {
	case errors.Is(err, packing.ErrBusy) && background:
		return nil
	case errors.Is(err, packing.ErrBusy):
		return problem.New(problem.ExitLocked, "locked", "%v.", err).Hint(action.Pack, "again, when it has ended")
	case repo.CannotWrite(err):
		return repo.Unwritable(err)
	case err != nil:
		return problem.New(problem.ExitFailed, "internal", "%v. Nothing is lost by it: an object is removed only where a pack that was read has it.", err)
	}
	return printPacked(e, done)
}

func printPacked(e *ui.Env, done packing.Result) error {
	if e.Format == ui.FormatJSON || e.Format == ui.FormatJSONL {
		return ui.WriteJSON(e.Results(), packedJSON(done))
	}
	if e.Quiet {
		return nil
	}
	_, err := fmt.Fprintf(e.Results(), "Packed %s of conversations; %d left loose in the repository.\n", conversation.Count(done.Packed, "object"), done.Left)
	if err == nil && done.Merged > 0 {
		_, err = fmt.Fprintf(e.Results(), "%s of jp's became one.\n", conversation.Count(done.Merged, "pack"))
	}
	return err
}
