package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/gitstore/packing"
)

// idle is the lowest priority that a process can have.
const idle = 19

func newPackCommand(e *env) *cobra.Command {
	var background bool
	cmd := &cobra.Command{
		Use: "pack", Short: "Pack what conversations have as loose objects", GroupID: "setup", Args: cobra.NoArgs,
		Long: "Move the loose objects of conversations into a pack of git's. Nothing is dropped, no ref moves, and what is\n" +
			"not a conversation's stays as it is. jp does this itself, in the background after a turn, once there are\n" +
			fmt.Sprintf("about %d of them; store.packing=off leaves it to you.\n\n", packing.Enough) +
			"Exit codes: 0 done · 1 the repository cannot be written to · 4 another process packs",
		Example: "  jp pack",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runPack(cmd.Context(), e, background) },
	}
	cmd.Flags().BoolVar(&background, "background", false, "give way to whatever else the machine does")
	cmd.Flags().Lookup("background").Hidden = true
	return cmd
}

// A packedJSON says what came of packing.
type packedJSON struct {
	Packed int `json:"packed"`
	Merged int `json:"merged"`
	Left   int `json:"left"`
}

func runPack(ctx context.Context, e *env, background bool) error {
	if background {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, idle) // a courtesy
	}
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	done, err := r.store.Packer().Pack(ctx)
	switch {
	case errors.Is(err, packing.ErrBusy) && background:
		return nil
	case errors.Is(err, packing.ErrBusy):
		return fail(exitLocked, "locked", "%v.", err).hint("jp pack", "again, when it has ended")
	case cannotWrite(err):
		return unwritable(err)
	case err != nil:
		return fail(exitFailed, "internal", "%v. Nothing is lost by it: an object is removed only where a pack that was read has it.", err)
	}
	return printPacked(e, done)
}

func printPacked(e *env, done packing.Result) error {
	if e.format == formatJSON || e.format == formatJSONL {
		return writeJSON(e.results(), packedJSON(done))
	}
	if e.quiet {
		return nil
	}
	_, err := fmt.Fprintf(e.results(), "Packed %s of conversations; %d left loose in the repository.\n", conversation.Count(done.Packed, "object"), done.Left)
	if err == nil && done.Merged > 0 {
		_, err = fmt.Fprintf(e.results(), "%s of jp's became one.\n", conversation.Count(done.Merged, "pack"))
	}
	return err
}

// packIfDue starts a process that packs, in a session of its own, where this
// command wrote something and enough is loose. It is no part of the command:
// what goes wrong with it is for jp doctor to tell.
func (r *repo) packIfDue() {
	if !r.store.Wrote() || r.config.Store.Packing == "off" || !r.store.Packer().Due() {
		return
	}
	cmd := exec.Command(ownProgram(), "-C", r.git.Dir(), "pack", "--background", "--quiet")
	cmd.Args[0], cmd.Env = os.Args[0], r.env.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil {
		_ = cmd.Process.Release()
	}
}
