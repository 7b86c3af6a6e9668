package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
)

func newArchiveCommand(e *ui.Env) *cobra.Command {
	var o repo.Selection
	var undo bool
	cmd := &cobra.Command{
		Use: "archive [ID…]", GroupID: "shape", Short: "Move conversations out of jp ls, or back",
		Long: `Move conversations out of jp ls. They stay complete: jp ls --archived lists them,
and --undo brings them back. With a filter, jp lists them first and then asks.
Pinned conversations stay.

JSON: [{"action","conversation","files"}]

Exit codes: 0 done · 2 usage · 3 no terminal to ask, or duplicate id · 4 locked ·
5 no such conversation · 6 damaged at its end`,
		Example: "  jp archive\n  jp archive 4400 6120\n  jp archive --inactive 30d -y\n  jp archive --undo 4400",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Words, o.Scopes = args, []conversation.Scope{conversation.ScopeLive}
			if undo {
				o.Scopes[0] = conversation.ScopeArchived
			}
			return runArchive(cmd.Context(), e, o, !undo)
		},
	}
	selectionFlags(&o, cmd.Flags())
	cmd.Flags().BoolVar(&undo, "undo", false, "bring archived conversations back")
	return cmd
}

// runArchive moves conversations into the archive, or out of it. Those that are
// there already stay.
func runArchive(ctx context.Context, e *ui.Env, o repo.Selection, archived bool) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	infos, err := o.Find(ctx, e.Host, r)
	if err != nil {
		return err
	}
	if o.Filters() {
		if infos, err = r.Find().NotTwice(e.Host, infos, true); err != nil {
			return err
		}
	}
	action, done := "archive", "archived"
	if !archived {
		action, done = "unarchive", "brought back"
	}
	if o.Filters() && !o.Yes && len(infos) > 0 {
		if err := confirmAll(ctx, e, action, infos); err != nil {
			return err
		}
	}
	for _, info := range infos {
		if err := r.Standings().Foreign(ctx, info); err != nil {
			return err
		}
	}
	infos, release, err := o.HoldAll(ctx, e.Host, r, infos)
	if err != nil {
		return err
	}
	defer release()
	return archiveAll(ctx, r, e, infos, archived, action, done)
}

// archiveAll moves conversations that the caller has locked, and reports them.
func archiveAll(ctx context.Context, r *repo.Repo, e *ui.Env, infos []conversation.Info, archived bool, action, done string) error {
	changes := []ui.Change{}
	failed := ui.ForEach(ctx, e, infos, func(info conversation.Info) error {
		moved, err := archive(ctx, r, e, info, archived)
		switch {
		case err != nil:
			return err
		case !moved:
			e.Note("%s: there is nothing to %s.", info.ID, action)
		default:
			changes = append(changes, ui.Changed(action, info.ID))
		}
		return nil
	})
	if e.Format.Structured() {
		return errors.Join(failed, ui.WriteJSON(e.Results(), changes))
	}
	for _, c := range changes {
		fmt.Fprintf(e.Results(), "%s %s\n", c.Conversation, done)
	}
	if len(infos) == 0 {
		e.Note("No conversation to %s.", action)
	}
	return failed
}

// archive moves one conversation that the caller has locked. If the other place already has it,
// archive removes the older ref there.
func archive(ctx context.Context, r *repo.Repo, e *ui.Env, info conversation.Info, archived bool) (moved bool, err error) {
	if strings.HasPrefix(info.Ref, "refs/jp/"+string(conversation.ScopeArchived)+"/") == archived && info.Err == nil {
		return r.Store.EndMove(ctx, info.ID)
	}
	if info, err = r.Store.Info(ctx, info.ID); err != nil {
		return false, repo.AboutConversation(err, info.ID)
	}
	at := &conversation.OptionalTime{}
	if archived {
		at.Time = e.Now().UTC()
	}
	_, err = r.Store.Archive(ctx, info.ID, info.Head, repo.Record(info, &conversation.Metadata{ArchivedAt: at}, e.Now()), archived)
	return err == nil, err
}

// confirmAll lists conversations and asks whether to do it to all of them.
func confirmAll(ctx context.Context, e *ui.Env, verb string, infos []conversation.Info) error {
	many, now := conversation.Count(len(infos), "conversation"), action.ArchiveNow
	if verb == "unarchive" {
		now = action.UnarchiveNow
	}
	return e.Confirm(ctx, ui.Confirmation{
		Question: strings.ToUpper(verb[:1]) + verb[1:] + " " + many + "?",
		List: func(w io.Writer, _ terminal.Palette) {
			for _, info := range infos {
				fmt.Fprintf(w, "  %s\n", repo.NamedInfo(info))
			}
		},
		Unasked: problem.New(problem.ExitDecision, "usage", "jp %s is about %s, and there is no terminal to ask.", verb, many).
			Hint(now, "do it without asking"),
	})
}
