package main

import (
	"context"
	"fmt"
	"io"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
)

// runTrustHead accepts the newest event of a conversation that was set back.
func runTrustHead(ctx context.Context, e *env, o trustOptions) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.fromProgram() {
		return fail(exitDecision, "untrusted", "%v.", errFromTool)
	}
	id, err := r.find().resolve(ctx, e.host, o.head)
	if err != nil {
		return err
	}
	held, err := r.hold(ctx, e.host, id)
	if err != nil {
		return err
	}
	defer held.Release()
	info, err := r.store.Info(ctx, id)
	if err != nil {
		return aboutConversation(err, id)
	}
	events, err := r.store.Load(ctx, info.Head)
	if err != nil {
		return aboutConversation(err, id)
	}
	standing, err := r.store.Standing(ctx, id, info.Head, events)
	switch {
	case err != nil:
		return err
	case standing == conversation.StandingOwn:
		_, err := fmt.Fprintf(e.results(), "%s was not set back; there is nothing to accept.\n", id)
		return err
	case standing != conversation.StandingRolledBack:
		return r.standings().standingFailure(id, info.Head, standing, r.standings().elsewhere(events), "read only")
	}
	if !o.yes {
		if err := r.confirmHead(ctx, e, info); err != nil {
			return err
		}
	}
	if err := r.store.AcceptHead(id, info.Head); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.results(), "%s goes on from @%d.\n", id, info.Tip.Seq)
	return err
}

// confirmHead shows where a conversation stands, and asks.
func (r *repo) confirmHead(ctx context.Context, e *env, info conversation.Info) error {
	return e.confirm(ctx, confirmation{
		id: info.ID,
		list: func(w io.Writer, _ terminal.Palette) {
			fmt.Fprintf(w, "%s was set back. Its newest event is now @%d %.10s:\n\n  %s\n\n", info.ID, info.Tip.Seq, info.Head, safetext.Show(info.Tip.Subject))
		},
		question: "Go on from there?",
		unasked: fail(exitDecision, "usage", "there is no terminal to ask whether %s may go on from an older event.", info.ID).about(info.ID).
			hint("jp trust --head "+info.ID.Short()+" -y", "accept it without being asked"),
	})
}
