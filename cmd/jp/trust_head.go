package main

import (
	"context"
	"fmt"
	"io"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

// runTrustHead accepts the newest event of a conversation that was set back.
func runTrustHead(ctx context.Context, e *ui.Env, o trustOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	id, err := r.Find().Resolve(ctx, e.Host, o.head)
	if err != nil {
		return err
	}
	held, err := r.Hold(ctx, e.Host, id)
	if err != nil {
		return err
	}
	defer held.Release()
	info, err := r.Store.Info(ctx, id)
	if err != nil {
		return repo.AboutConversation(err, id)
	}
	events, err := r.Store.Load(ctx, info.Head)
	if err != nil {
		return repo.AboutConversation(err, id)
	}
	standing, err := r.Store.Standing(ctx, id, info.Head, events)
	switch {
	case err != nil:
		return err
	case standing == conversation.StandingOwn:
		_, err := fmt.Fprintf(e.Results(), "%s was not set back; there is nothing to accept.\n", id)
		return err
	case standing != conversation.StandingRolledBack:
		return r.Standings().StandingFailure(id, info.Head, standing, r.Standings().Elsewhere(events), "read only")
	}
	if !o.yes {
		if err := e.Confirm(ctx, ui.Confirmation{
			ID: info.ID,
			List: func(w io.Writer, _ terminal.Palette) {
				fmt.Fprintf(w, "%s was set back. Its newest event is now @%d %.10s:\n\n  %s\n\n", info.ID, info.Tip.Seq, info.Head, safetext.Show(info.Tip.Subject))
			},
			Question: "Go on from there?",
			Unasked: problem.New(problem.ExitDecision, "usage", "there is no terminal to ask whether %s may go on from an older event.", info.ID).About(info.ID).
				Hint(action.AcceptHeadNow(info.ID.Short()), "accept it without being asked"),
		}); err != nil {
			return err
		}
	}
	undo := r.Standings().NewerEvents(info)
	if err := r.Store.AcceptHead(id, info.Head); err != nil {
		return err
	}
	if !undo.None() {
		e.Note("Undo: %s", undo)
	}
	_, err = fmt.Fprintf(e.Results(), "%s goes on from @%d.\n", id, info.Tip.Seq)
	return err
}
