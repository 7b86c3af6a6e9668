package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/resume"
	"jp/agent/snapshot"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
)

func newStatusCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "status [ID]", Short: "Show where you are, what waits, and the next command", GroupID: "look", Args: cobra.MaximumNArgs(1),
		Long: `Show this session's conversation, what it waits for, the files that its last turn
changed, what stopped in this working tree, other running or waiting
conversations, and the next command. jp status never asks.

Exit codes: 0 done, or this session has no conversation yet · 2 usage ·
5 no such conversation · 6 damaged`,
		Example: "  jp status\n  jp status --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStatus(cmd.Context(), e, strings.Join(args, ""))
		},
	}
}

func runStatus(ctx context.Context, e *ui.Env, word string) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.States().Sweep(ctx, e.Host)
	id, err := statusOf(ctx, r, e, word)
	if err != nil || id == "" {
		return err
	}
	info, err := r.Store.Info(ctx, id)
	if err != nil {
		return repo.AboutConversation(err, id)
	}
	l := r.States().List(ctx, info)
	if e.Format.Structured() {
		shown := ui.ShownConversation{Summary: l, BackupBytes: r.Standings().Backups().Size()}
		if v, err := r.Find().ViewBack(ctx, e.Host, string(id), agent.KnowsContext); err == nil {
			shown.Context = agent.ContextOf(ctx, r, v.Events)
		}
		return ui.WriteJSON(e.Results(), shown)
	}
	p := e.Palette(e.Stdout)
	fmt.Fprintln(e.Results(), terminal.Wrap(fmt.Sprintf("%s  %s  %s", p.Bold(l.ID), ui.StatusColour(p, l.Status), problem.OneLine(repo.Title(l))), resultColumns(e)))
	if l.Archived != nil {
		fmt.Fprintf(e.Results(), "  archived: %s does not list it; %s brings it back\n", action.List, action.Unarchive(l.ShortID))
	}
	if why := l.Status.Reason; why != nil {
		fmt.Fprintln(e.Results(), terminal.Wrap("  "+problem.OneLine(*why), resultColumns(e)))
	}
	if l.Status.OrphanedTools > 0 {
		fmt.Fprintf(e.Results(), "  its process has ended, and what it started still runs: %s ends that;\n  %s asks at a terminal whether to wait for it, and fails without one\n", action.Kill(l.ShortID), action.Continue(l.ShortID))
	}
	if l.Status.Question != nil {
		fmt.Fprintf(e.Results(), "  asks: %s\n", repo.AskedWords(*l.Status.Tool, "", *l.Status.Question))
	}
	v, err := r.Find().ViewBack(ctx, e.Host, string(id), agent.KnowsContext)
	if err != nil {
		return err
	}
	if used := agent.ContextUsed(ctx, r, v.Events); used != "" {
		fmt.Fprintf(e.Results(), "  context: %s\n", used)
	}
	printChanged(ctx, e.OnScreen(v))
	list, err := r.States().Newest(ctx, conversation.ScopeLive, "", 0)
	if err != nil {
		return err
	}
	stopped := agent.StoppedOf(ctx, r, list, id)
	printStopped(e, stopped)
	named := []conversation.ID{id}
	for _, s := range stopped {
		named = append(named, conversation.ID(s.Listing.ID))
	}
	slices.SortFunc(list, func(a, b *repo.Summary) int { return b.Active().Compare(a.Active()) })
	listed, more := 0, 0
	for _, l := range list {
		switch {
		case slices.Contains(named, conversation.ID(l.ID)) || l.Status.State == "idle":
		case listed == maxOthers:
			more++
		default:
			fmt.Fprintln(e.Results(), terminal.Wrap(fmt.Sprintf("  also: %s  %s  %s", l.ID, problem.OneLine(l.Status.Words()), problem.OneLine(repo.Title(*l))), resultColumns(e)))
			listed++
		}
	}
	if more > 0 {
		fmt.Fprintf(e.Results(), "  and %d more that run or wait: %s\n", more, action.List)
	}
	current, _ := r.Find().Visited(ctx, e.Host, 0) // a session may have none
	fmt.Fprintf(e.Results(), "\n    %s\n", nextAction(l, id == current))
	return nil
}

// resultColumns is the width at which text for a person on stdout is wrapped, 0 if stdout is no
// terminal.
func resultColumns(e *ui.Env) int {
	if !ui.IsTerminal(e.Stdout) {
		return 0
	}
	return e.Columns(e.Stdout)
}

// wrapped is a writer of text for a person to stdout. On a terminal its lines break between words.
func wrapped(w io.Writer, e *ui.Env) io.Writer {
	if !ui.IsTerminal(e.Stdout) {
		return w
	}
	return terminal.NewWrapper(w, func() int { return resultColumns(e) })
}

// statusOf is the conversation that status is about. It opens no chooser. If the session has none, it
// prints the stopped conversations here and returns "".
func statusOf(ctx context.Context, r *repo.Repo, e *ui.Env, word string) (conversation.ID, error) {
	if word != "" {
		return r.Find().Resolve(ctx, e.Host, word)
	}
	id, err := r.Find().Visited(ctx, e.Host, 0)
	switch {
	case err == nil || repo.IsGone(err):
		return id, err
	case e.Format.Structured():
		return "", ui.WriteJSON(e.Results(), nil)
	}
	list, err := r.States().Newest(ctx, conversation.ScopeLive, "", 1)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		if archived, err := r.Store.Heads(conversation.ScopeArchived); err == nil && len(archived) == 0 {
			_, err := fmt.Fprintf(e.Results(), "There is no conversation here yet.\n\n    %s\n", action.Ask)
			return "", err
		}
	}
	fmt.Fprintln(e.Results(), "This session has no conversation yet.")
	printStopped(e, agent.StoppedOf(ctx, r, list, ""))
	_, err = fmt.Fprintf(e.Results(), "\n    %s\n", action.Ask)
	return "", err
}

// printStopped lists the stopped conversations of this working tree, with the command that goes on.
func printStopped(e *ui.Env, stopped []agent.Stopped) {
	for _, s := range stopped {
		fmt.Fprintln(e.Results(), terminal.Wrap(fmt.Sprintf("  %s   %s", s.Words, s.Action), resultColumns(e)))
	}
}

// printChanged lists the files that the tools of the last turn changed.
func printChanged(ctx context.Context, v *ui.ScreenView) {
	var last conversation.Turn
	for last = range conversation.Turns(v.View.Events) {
	}
	if len(last.Events) == 0 || last.Ledger().Discarded {
		return
	}
	defer func() {
		left := snapshot.UnseenBetween(v.View, last.Events[0].Seq, math.MaxInt, nil)
		lost, _ := resume.LostChanges(ctx, v.View) // jp continue reports the error
		left.AddUnknown(lost...)
		if !left.None() {
			fmt.Fprintf(v.Env.Results(), "  changed, but in no snapshot: %s\n", left.Words(20, false))
		}
		if words := left.UnknownWords(20); words != "" {
			fmt.Fprintf(v.Env.Results(), "  %s\n", words)
		}
	}()
	paths := agent.WrittenBy(ctx, v.View.Repo, last)
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(v.Env.Results(), "  turn %d changed:\n", last.Number)
	for _, path := range paths[:min(len(paths), 20)] {
		fmt.Fprintf(v.Env.Results(), "    %s\n", repo.ShownPath(path))
	}
	if len(paths) > 20 {
		fmt.Fprintf(v.Env.Results(), "    (and %d more files)\n", len(paths)-20)
	}
}

const maxOthers = 3

// nextAction is the action that the user most likely needs next. current: the
// conversation is the session's, so that a query needs no id.
func nextAction(l repo.Summary, current bool) action.Action {
	if l.Standing == conversation.StandingRolledBack {
		return action.AcceptHead(l.ShortID)
	}
	if !l.Local {
		return action.Adopt(l.ShortID)
	}
	if l.Status.State == "waiting_for_input" && l.Status.PID != nil {
		return action.Answer(l.ShortID)
	}
	switch {
	case l.Status.State == "running":
		return action.Attach(l.ShortID)
	case l.Status.State == "idle" && !current:
		return action.AskIn(l.ID)
	case l.Status.State == "idle":
		return action.Ask
	}
	return action.Continue(l.ShortID)
}
