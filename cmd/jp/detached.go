package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"jp/conversation"
)

// newDetachedCommand is how jp starts itself in the background. It is nothing
// that a person can type: what it needs comes in descriptors.
func newDetachedCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "detached ID", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Go on with a turn in the background (jp starts this itself)",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDetached(cmd.Context(), e, args[0])
		},
	}
}

// A handover is what a process in the background has from the one that started
// it.
type handover struct {
	order
	id       conversation.ID
	lock     *os.File // the conversation's, held
	reply    *os.File
	reported bool
}

// runDetached goes on with a turn, exactly as a resume does, with nobody to ask.
func runDetached(ctx context.Context, e *env, word string) error {
	id, err := conversation.ParseID(word)
	if err != nil {
		return err
	}
	h, err := takeHandover(id)
	if err != nil {
		return err
	}
	e.dir, e.cfg, e.quiet = h.Dir, h.CFG, h.Quiet
	r, err := e.findRepo(ctx)
	if err == nil {
		defer r.Close()
		err = h.run(ctx, e.frontend(r, queryOptions{}), r)
	}
	h.failed(err)
	return err
}

// run goes on with the turn, with nobody to ask.
func (h *handover) run(ctx context.Context, front frontend, r *repo) error {
	o := queryOptions{
		id: string(h.id), continueTurn: true, bare: true, nonInteractive: true, model: h.Model, yes: h.Yes, tools: h.Tools, withoutTools: h.WithoutTools,
		noTools: h.NoTools, policy: h.Policy, pending: h.Pending, anyway: h.Anyway, wait: h.Wait,
		quiet: h.Quiet,
	}
	return newQuery(ctx, front, r, o, h).run(ctx)
}

// takeHandover takes what was handed over, and keeps it from every program that
// this process starts.
func takeHandover(id conversation.ID) (*handover, error) {
	for fd, kind := range map[int]uint32{lockFD: unix.S_IFREG, orderFD: unix.S_IFIFO, readyFD: unix.S_IFIFO} {
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil || uint32(stat.Mode)&unix.S_IFMT != kind {
			return nil, usage("jp starts this command itself.").hint(`jp query --detach "…"`, "ask in the background")
		}
		unix.CloseOnExec(fd)
	}
	h := &handover{id: id, lock: os.NewFile(lockFD, "lock"), reply: os.NewFile(readyFD, "ready")}
	orders := os.NewFile(orderFD, "order")
	defer orders.Close()
	if err := json.NewDecoder(io.LimitReader(orders, 1<<20)).Decode(&h.order); err != nil {
		return nil, fmt.Errorf("read what is to be done in the background: %w", err)
	}
	return h, nil
}

// ready reports that the process goes on by itself from here.
func (h *handover) ready() error {
	if h == nil || h.reported {
		return nil
	}
	return h.report(report{Ready: true, PID: pid()})
}

// failed reports why it does not, if it has not reported yet. Where nothing was
// left to do, that is no failure.
func (h *handover) failed(err error) {
	if h.reported {
		return
	}
	r := report{PID: pid(), Ready: err == nil}
	if err != nil {
		f := failureOf(err)
		r.Exit, r.Code, r.Message, r.Details, r.Hints = f.exit, f.code, f.message, f.details, f.hints
	}
	_ = h.report(r) // nobody waits any more, if that fails
}

func (h *handover) report(r report) error {
	h.reported = true
	err := json.NewEncoder(h.reply).Encode(r)
	return errors.Join(err, h.reply.Close())
}
