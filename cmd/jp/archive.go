package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

func newArchiveCommand(e *env) *cobra.Command {
	o := selection{scopes: []conversation.Scope{conversation.ScopeLive}}
	cmd := &cobra.Command{
		Use: "archive [ID…]", GroupID: "shape", Short: "Put conversations out of the way",
		Long: "Move conversations out of jp ls. Nothing of them is lost: jp ls --archived lists them, jp unarchive brings them\n" +
			"back. With a filter they are listed first, then you are asked; pinned ones stay.\n\n" +
			"JSON: [{\"action\",\"conversation\",\"files\"}]\n\nExit codes: 0 done · 2 usage · 3 nobody to ask, or there twice · 4 locked · 5 no such conversation ·\n6 damaged in what has to be read, which is its end",
		Example: "  jp archive\n  jp archive 4400 6120\n  jp archive --inactive 30d -y",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return runArchive(cmd.Context(), e, o, true)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func newUnarchiveCommand(e *env) *cobra.Command {
	o := selection{scopes: []conversation.Scope{conversation.ScopeArchived}}
	cmd := &cobra.Command{
		Use: "unarchive [ID…]", GroupID: "shape", Short: "Bring archived conversations back",
		Long: "Bring conversations back into jp ls.\n\n" +
			"JSON: [{\"action\",\"conversation\",\"files\"}]\n\nExit codes: 0 done · 2 usage · 3 nobody to ask, or there twice · 4 locked · 5 no such conversation ·\n6 damaged in what has to be read, which is its end",
		Example: "  jp ls --archived\n  jp unarchive 4400",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return runArchive(cmd.Context(), e, o, false)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

// runArchive moves conversations into the archive, or out of it. Those that are
// there already stay.
func runArchive(ctx context.Context, e *env, o selection, archived bool) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	infos, err := o.find(ctx, e.host, r)
	if err != nil {
		return err
	}
	if o.filters() {
		if infos, err = r.notTwice(e.host, infos, true); err != nil {
			return err
		}
	}
	action, done := "archive", "archived"
	if !archived {
		action, done = "unarchive", "brought back"
	}
	if o.filters() && !o.yes && len(infos) > 0 {
		if err := e.confirmAll(ctx, action, infos); err != nil {
			return err
		}
	}
	for _, info := range infos {
		if err := r.standings().foreign(ctx, info); err != nil {
			return err
		}
	}
	infos, release, err := o.holdAll(ctx, e.host, r, infos)
	if err != nil {
		return err
	}
	defer release()
	return r.archiveAll(ctx, e, infos, archived, action, done)
}

// archiveAll moves conversations that are held, and says which.
func (r *repo) archiveAll(ctx context.Context, e *env, infos []conversation.Info, archived bool, action, done string) error {
	changes := []change{}
	failed := e.forEach(ctx, infos, func(info conversation.Info) error {
		moved, err := r.archive(ctx, e, info, archived)
		switch {
		case err != nil:
			return err
		case !moved:
			e.note("%s: there is nothing to %s.", info.ID, action)
		default:
			changes = append(changes, changed(action, info.ID))
		}
		return nil
	})
	if e.format.structured() {
		return errors.Join(failed, writeJSON(e.results(), changes))
	}
	for _, c := range changes {
		fmt.Fprintf(e.results(), "%s %s\n", c.Conversation, done)
	}
	if len(infos) == 0 {
		e.note("No conversation to %s.", action)
	}
	return failed
}

// archive moves one conversation, which is held. Where it is there already, an older
// ref in the other place is taken away.
func (r *repo) archive(ctx context.Context, e *env, info conversation.Info, archived bool) (moved bool, err error) {
	if isArchived(info) == archived && info.Err == nil {
		return r.store.EndMove(ctx, info.ID)
	}
	if info, err = r.store.Info(ctx, info.ID); err != nil {
		return false, aboutConversation(err, info.ID)
	}
	at := &conversation.Moment{}
	if archived {
		at.Time = e.now().UTC()
	}
	_, err = r.store.Archive(ctx, info.ID, info.Head, record(info, &conversation.Metadata{ArchivedAt: at}, e.now()), archived)
	return err == nil, err
}

func isArchived(info conversation.Info) bool {
	return strings.HasPrefix(info.Ref, "refs/jp/"+string(conversation.ScopeArchived)+"/")
}

// confirmAll lists conversations and asks whether to do it to all of them.
func (e *env) confirmAll(ctx context.Context, action string, infos []conversation.Info) error {
	many := conversation.Count(len(infos), "conversation")
	return e.confirm(ctx, confirmation{
		question: strings.ToUpper(action[:1]) + action[1:] + " " + many + "?",
		list: func(w io.Writer, _ terminal.Palette) {
			for _, info := range infos {
				fmt.Fprintf(w, "  %s\n", namedInfo(info))
			}
		},
		unasked: fail(exitDecision, "usage", "jp %s is about %s, and there is no terminal to ask.", action, many).
			hint("jp "+action+" -y …", "do it without asking"),
	})
}
