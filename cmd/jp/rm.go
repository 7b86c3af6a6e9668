package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
)

// A deletion is a conversation that was deleted, for programs.
type deletion struct {
	ui.Change
	Ref  string            `json:"ref"`
	Head conversation.Head `json:"head"` // that the ref named
	// Payloads is the ref that kept large texts, null if there were none.
	Payloads *keptRef      `json:"payloads"`
	KeptBy   []repo.Keeper `json:"kept_by"` // refs that still reach its events: the first 20

	name        string
	events      int
	moreKeepers int
}

type keptRef struct {
	Ref  string `json:"ref"`
	Head string `json:"head"`
}

func newRmCommand(e *ui.Env) *cobra.Command {
	o := repo.Selection{Scopes: []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived}}
	cmd := &cobra.Command{
		Use: "rm [ID…]", GroupID: "shape", Short: "Delete conversations",
		Long: `Delete conversations. jp lists them, with the refs that still reach their events
(forks, tags, fetched copies), and then asks. It prints the command that brings
each back, which works until git collects garbage (two weeks). Without ID you
choose from a list on a terminal. With --older or --inactive, pinned ones stay.

ID: an id, its last characters, "." (the session's), "-" (the one before), recent
or newest. Where jp asks, ID may also be a part of the title.

JSON: [{"action","conversation","files","ref","head","payloads":{"ref","head"},
"kept_by":[{"ref","events"}]}]

Exit codes: 0 done · 2 usage · 3 no terminal to ask, duplicate id, or set back ·
4 locked · 5 no such conversation · 6 its ref cannot be read`,
		Example: "  jp rm 4400\n  jp rm --older 180d -y",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Words = args
			return runRm(cmd.Context(), e, o)
		},
	}
	selectionFlags(&o, cmd.Flags())
	return cmd
}

func runRm(ctx context.Context, e *ui.Env, o repo.Selection) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if len(o.Words) == 0 && !o.Filters() {
		none := problem.Usage("jp rm needs to know which: name them, or use --inactive or --older.").Hint(action.List, "the conversations there are")
		id, err := r.Find().PickFrom(ctx, e.Host, none, o.Scopes...)
		if err != nil {
			return err
		}
		o.Words = []string{string(id)}
	}
	o.ByID = o.Yes || !ui.HasTerminal()
	infos, err := o.Find(ctx, e.Host, r)
	if err != nil {
		return err
	}
	if infos, err = r.Find().NotTwice(e.Host, infos, o.Filters()); err != nil {
		return err
	}
	if err := r.Standings().NotSetBack(ctx, infos); err != nil {
		return err
	}
	if infos, err = r.States().NotAwaited(ctx, e.Host, infos, o.Filters()); err != nil {
		return err
	}
	if len(infos) > 0 && !o.Yes {
		if err := confirmDeletion(ctx, r, e, infos); err != nil {
			return err
		}
	}
	infos, release, err := o.HoldAll(ctx, e.Host, r, infos)
	if err != nil {
		return err
	}
	defer release()
	gone := []deletion{}
	failed := ui.ForEach(ctx, e, infos, func(info conversation.Info) error {
		d, err := remove(ctx, r, info, infos)
		if err == nil {
			gone = append(gone, d)
		}
		return err
	})
	if len(infos) == 0 {
		e.Note("No conversation to delete.")
	}
	return errors.Join(failed, reportDeletions(e, gone))
}

// reportDeletions lists the deletions, with the command that undoes each.
func reportDeletions(e *ui.Env, gone []deletion) error {
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), gone)
	}
	for _, d := range gone {
		fmt.Fprintf(e.Results(), "Deleted %s\n", d.name)
		undo := action.SetRef(d.Ref, string(d.Head))
		if d.Payloads != nil {
			undo = action.SetRefs(d.Payloads.Ref, string(d.Payloads.Head), d.Ref, string(d.Head))
		}
		for _, line := range repo.KeeperLines(d.KeptBy, d.moreKeepers, d.events) {
			e.Note("  %s", line)
		}
		e.Note("Undo: %s", undo)
	}
	return nil
}

// remove deletes a conversation that the caller has locked, and its data outside of the repository's
// objects. It is one of several that are deleted.
func remove(ctx context.Context, r *repo.Repo, info conversation.Info, with []conversation.Info) (deletion, error) {
	d := deletion{Change: ui.Changed("rm", info.ID), Ref: info.Ref, Head: info.Head, KeptBy: []repo.Keeper{}, name: repo.NamedInfo(info), events: info.Summary.Events}
	// Looked for once more: it may have been forked while the user was asked.
	keepers, more, err := r.States().KeptBy(ctx, info, with)
	if err != nil {
		return d, err
	}
	d.KeptBy, d.moreKeepers = append(d.KeptBy, keepers...), more
	ref, head, err := r.Store.Payloads(info.ID)
	if err != nil {
		return d, err
	}
	if ref != "" {
		d.Payloads = &keptRef{ref, head}
	}
	return d, r.States().Delete(ctx, info)
}

func confirmDeletion(ctx context.Context, r *repo.Repo, e *ui.Env, infos []conversation.Info) error {
	var lines, ids []string
	for _, info := range infos {
		keepers, more, err := r.States().KeptBy(ctx, info, infos)
		if err != nil {
			return err
		}
		lines, ids = append(lines, repo.NamedInfo(info)), append(ids, info.ID.Short())
		for _, line := range repo.KeeperLines(keepers, more, info.Summary.Events) {
			lines = append(lines, "  "+line)
		}
	}
	many := conversation.Count(len(infos), "conversation")
	if len(infos) == 1 {
		many = repo.NamedInfo(infos[0])
	}
	return e.Confirm(ctx, ui.Confirmation{
		Question: "Delete " + conversation.Count(len(infos), "conversation") + "?",
		List: func(w io.Writer, _ terminal.Palette) {
			for _, line := range lines {
				fmt.Fprintf(w, "  %s\n", line)
			}
		},
		Unasked: problem.New(problem.ExitDecision, "usage", "jp rm deletes %s, and there is no terminal to ask.", many).
			Hint(action.Remove(ids...), "do it without asking"),
	})
}
