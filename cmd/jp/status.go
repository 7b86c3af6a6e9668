package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/conversation"
)

func newStatusCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "status [ID]", Short: "Where you are, what waits, and what to do next", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Long: "Show this session's conversation, what it waits for, the files that its last turn changed, what else runs or\n" +
			"waits in this repository, and the next command.\n\n" +
			"Exit codes: 0 done, or there is no conversation at all yet · 2 usage, or this session has none ·\n5 no such conversation · 6 damaged",
		Example: "  jp status\n  jp status --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStatus(cmd.Context(), e, strings.Join(args, ""))
		},
	}
}

func runStatus(ctx context.Context, e *env, word string) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.states().sweep(ctx, e.host)
	id, err := r.find().resolve(ctx, e.host, word)
	if err != nil {
		if word == "" && !isGone(err) && r.empty() {
			return sayEmpty(e)
		}
		return err
	}
	info, err := r.store.Info(ctx, id)
	if err != nil {
		return aboutConversation(err, id)
	}
	l := r.states().list(ctx, info)
	if e.format.structured() {
		return writeJSON(e.results(), l)
	}
	p := e.palette(e.stdout)
	fmt.Fprintf(e.results(), "%s  %s  %s\n", p.Bold(l.ID), statusColour(p, l.Status), oneLine(title(l)))
	if l.Archived != nil {
		fmt.Fprintf(e.results(), "  archived: jp ls does not list it; jp unarchive %s brings it back\n", l.ShortID)
	}
	if why := l.Status.Reason; why != nil {
		fmt.Fprintf(e.results(), "  %s\n", oneLine(*why))
	}
	if l.Status.Outlived > 0 {
		fmt.Fprintf(e.results(), "  its process has ended, and what it started still runs: jp kill %[1]s ends that;\n  jp continue %[1]s asks at a terminal whether to wait for it, and fails without one\n", l.ShortID)
	}
	if l.Status.Question != nil {
		fmt.Fprintf(e.results(), "  %s asks: %s\n", oneLine(*l.Status.Tool), oneLine(*l.Status.Question))
	}
	v, err := r.find().view(ctx, e.host, string(id))
	if err != nil {
		return err
	}
	e.onScreen(v).printChanged(ctx)
	if err := r.printOthers(ctx, e, id); err != nil {
		return err
	}
	current, _ := r.find().visited(ctx, e.host, 0) // a session may have none
	fmt.Fprintf(e.results(), "\n    %s\n", nextCommand(l, id == current))
	return nil
}

// empty reports whether there is no conversation yet, not even an archived one.
func (r *repo) empty() bool {
	live, err := r.store.Heads(conversation.ScopeLive)
	archived, archiveErr := r.store.Heads(conversation.ScopeArchived)
	return errors.Join(err, archiveErr) == nil && len(live)+len(archived) == 0
}

// sayEmpty is the status where there is no conversation yet.
func sayEmpty(e *env) error {
	if e.format.structured() {
		return writeJSON(e.results(), nil)
	}
	_, err := fmt.Fprint(e.results(), "There is no conversation here yet.\n\n    jp query \"…\"\n")
	return err
}

// printChanged lists the files that the tools of the last turn changed.
func (v *screenView) printChanged(ctx context.Context) {
	var last conversation.Turn
	for last = range conversation.Turns(v.events) {
	}
	if len(last.Events) == 0 || last.Ledger().Discarded {
		return
	}
	defer func() {
		if left := v.unseenBetween(last.Events[0].Seq, math.MaxInt, nil); !left.none() {
			fmt.Fprintf(v.env.results(), "  changed, but in no snapshot: %s\n", left.words(20, false))
		}
	}()
	paths := v.repo.writtenBy(ctx, last)
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(v.env.results(), "  turn %d changed:\n", last.Number)
	for _, path := range paths[:min(len(paths), 20)] {
		fmt.Fprintf(v.env.results(), "    %s\n", shownPath(path))
	}
	if len(paths) > 20 {
		fmt.Fprintf(v.env.results(), "    (and %d more files)\n", len(paths)-20)
	}
}

// maxOthers is how many other conversations status lists.
const maxOthers = 3

// printOthers lists the other conversations that run or wait, those that were active
// last, and counts the rest.
func (r *repo) printOthers(ctx context.Context, e *env, but conversation.ID) error {
	infos, err := r.store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return err
	}
	slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
	listed, more := 0, 0
	for _, i := range infos {
		l := r.states().list(ctx, i)
		switch {
		case i.ID == but || l.Status.State == "idle":
		case listed == maxOthers:
			more++
		default:
			fmt.Fprintf(e.results(), "  also: %s  %s  %s\n", l.ID, oneLine(l.Status.words()), oneLine(title(l)))
			listed++
		}
	}
	if more > 0 {
		fmt.Fprintf(e.results(), "  and %d more that run or wait: jp ls\n", more)
	}
	return nil
}

// nextCommand is what the user most likely wants to type next; current is whether
// the conversation is the session's, which a query goes to by itself.
func nextCommand(l listing, current bool) string {
	if l.setBack {
		return "jp trust --head " + l.ShortID
	}
	if !l.Local {
		return "jp fork " + l.ShortID + " --adopt -a"
	}
	if l.Status.State == "waiting_for_input" && l.Status.PID != nil {
		return "jp answer " + l.ShortID
	}
	switch {
	case l.Status.State == "running":
		return "jp attach " + l.ShortID
	case l.Status.State == "idle" && !current:
		return "jp query --id=" + l.ID + ` "…"`
	case l.Status.State == "idle":
		return `jp query "…"`
	}
	return "jp continue " + l.ShortID
}
