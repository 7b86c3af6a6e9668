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

// A deletion is a conversation that was deleted, for programs.
type deletion struct {
	change
	Ref  string            `json:"ref"`
	Head conversation.Head `json:"head"` // what the ref named
	// Payloads is the ref that kept large texts; null where there were none.
	Payloads *keptRef `json:"payloads"`
	KeptBy   []keeper `json:"kept_by"` // what still reaches its events: the first 20

	name        string
	events      int
	moreKeepers int
}

// A keptRef is a ref with what it named.
type keptRef struct {
	Ref  string `json:"ref"`
	Head string `json:"head"`
}

func newRmCommand(e *env) *cobra.Command {
	o := selection{scopes: []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived}}
	cmd := &cobra.Command{
		Use: "rm [ID…]", GroupID: "shape", Short: "Delete conversations",
		Long: "Delete conversations: they are listed, with what else reaches their events (forks that share them, tags, what was\n" +
			"fetched), then you are asked. Until git collects its garbage (two weeks), the command that is printed undoes it. Without\n" +
			"ID you choose from a list, which needs a terminal; it is never just the session's. With --older or --inactive pinned\n" +
			"ones stay.\n\n" +
			"ID: an id, its last characters, \".\" (the session's), \"-\" (the one before), recent or newest. Where you are asked\n" +
			"it may also be a part of the title; with -y, or without a terminal, it may not.\n\n" +
			"JSON: [{\"action\",\"conversation\",\"files\",\"ref\",\"head\",\"payloads\":{\"ref\",\"head\"},\n\"kept_by\":[{\"ref\",\"events\"}]}]\n\nExit codes: 0 done · 2 usage · 3 nobody to ask, or there twice · 4 locked · 5 no such conversation · 6 its ref cannot be read",
		Example: "  jp rm 4400\n  jp rm --older 180d -y",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return runRm(cmd.Context(), e, o)
		},
	}
	o.flags(cmd.Flags())
	return cmd
}

func runRm(ctx context.Context, e *env, o selection) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if len(o.words) == 0 && !o.filters() {
		none := usage("jp rm needs to know which: name them, or use --inactive or --older.").hint("jp ls", "the conversations there are")
		id, err := r.find().pickFrom(ctx, e.host, none, o.scopes...)
		if err != nil {
			return err
		}
		o.words = []string{string(id)}
	}
	o.byID = o.yes || !hasTerminal()
	infos, err := o.find(ctx, e.host, r)
	if err != nil {
		return err
	}
	if infos, err = r.notTwice(e.host, infos, o.filters()); err != nil {
		return err
	}
	if infos, err = r.notAwaited(ctx, e.host, infos, o.filters()); err != nil {
		return err
	}
	if len(infos) > 0 && !o.yes {
		if err := r.confirmDeletion(ctx, e, infos); err != nil {
			return err
		}
	}
	infos, release, err := o.holdAll(ctx, e.host, r, infos)
	if err != nil {
		return err
	}
	defer release()
	gone := []deletion{}
	failed := e.forEach(ctx, infos, func(info conversation.Info) error {
		d, err := r.remove(ctx, info, infos)
		if err == nil {
			gone = append(gone, d)
		}
		return err
	})
	if len(infos) == 0 {
		e.note("No conversation to delete.")
	}
	return errors.Join(failed, e.reportDeletions(gone))
}

// reportDeletions says what was deleted, and how each is undone.
func (e *env) reportDeletions(gone []deletion) error {
	if e.format.structured() {
		return writeJSON(e.results(), gone)
	}
	for _, d := range gone {
		fmt.Fprintf(e.results(), "Deleted %s\n", d.name)
		undo := fmt.Sprintf("git update-ref %s %s", d.Ref, d.Head)
		if d.Payloads != nil {
			undo = fmt.Sprintf("git update-ref %s %s && %s", d.Payloads.Ref, d.Payloads.Head, undo)
		}
		for _, line := range keeperLines(d.KeptBy, d.moreKeepers, d.events) {
			e.note("  %s", line)
		}
		e.note("Undo: %s", undo)
	}
	return nil
}

// remove deletes a conversation, which is held, and what is kept of it beside
// the repository's objects. It is one of several that are deleted.
func (r *repo) remove(ctx context.Context, info conversation.Info, with []conversation.Info) (deletion, error) {
	d := deletion{change: changed("rm", info.ID), Ref: info.Ref, Head: info.Head, KeptBy: []keeper{}, name: namedInfo(info), events: info.Summary.Events}
	// Looked for once more: it may have been forked while the user was asked.
	keepers, more, err := r.keptBy(ctx, info, with)
	if err != nil {
		return d, err
	}
	d.KeptBy, d.moreKeepers = append(d.KeptBy, keepers...), more
	ref, head, err := r.store.Payloads(info.ID)
	if err != nil {
		return d, err
	}
	if ref != "" {
		d.Payloads = &keptRef{ref, head}
	}
	if err := r.store.Delete(ctx, info.ID, info.Head); err != nil {
		return d, err
	}
	r.forgetSecrets(info.ID)
	for _, kind := range []string{".query", ".answer", ".untracked"} {
		_ = r.own().Remove(draftsFolder, string(info.ID)+kind) // there may be none
	}
	if registry, ok := r.states().toldRegistry(); ok {
		_ = registry.Forget(info.ID) // its log; there may be none
	}
	return d, nil
}

func (r *repo) confirmDeletion(ctx context.Context, e *env, infos []conversation.Info) error {
	var lines, ids []string
	for _, info := range infos {
		keepers, more, err := r.keptBy(ctx, info, infos)
		if err != nil {
			return err
		}
		lines, ids = append(lines, namedInfo(info)), append(ids, info.ID.Short())
		for _, line := range keeperLines(keepers, more, info.Summary.Events) {
			lines = append(lines, "  "+line)
		}
	}
	many := conversation.Count(len(infos), "conversation")
	if len(infos) == 1 {
		many = namedInfo(infos[0])
	}
	return e.confirm(ctx, confirmation{
		question: "Delete " + conversation.Count(len(infos), "conversation") + "?",
		list: func(w io.Writer, _ terminal.Palette) {
			for _, line := range lines {
				fmt.Fprintf(w, "  %s\n", line)
			}
		},
		unasked: fail(exitDecision, "usage", "jp rm deletes %s, and there is no terminal to ask.", many).
			hint("jp rm -y "+strings.Join(ids, " "), "do it without asking"),
	})
}
