package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/worktree"
)

type logOptions struct {
	target   string
	paths    []string // as typed
	within   []string // the same, from the working tree's root
	limit    int
	turn     int
	stat     bool
	patch    bool
	reverse  bool
	internal bool
}

func newLogCommand(e *env) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use: "log [ID] [-- PATH…]", Short: "Show what happened, newest event first", GroupID: "look",
		Long: "Show the events of a conversation, newest first, each with its number: @14 names it in other commands.\n" +
			"With paths, only the events that changed them.\n\nExit codes: 0 done · 2 usage · 5 no such conversation or turn,\nor it is incomplete here · 6 damaged",
		Example: "  jp log\n  jp log 4400 -n 20 --stat\n  jp log -- auth/        # who changed these files",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, o.paths = args[:at], args[at:]
			}
			if len(args) > 1 {
				return usage("jp log takes one conversation; paths come after --.")
			}
			if len(args) == 1 {
				o.target = args[0]
			}
			if err := atLeast(cmd.Flags(), 1, "limit", "turn"); err != nil {
				return err
			}
			return runLog(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.limit, "limit", "n", 0, "at most `N` events")
	f.IntVar(&o.turn, "turn", 0, "only turn `N`")
	f.BoolVar(&o.stat, "stat", false, "with the files that each event changed")
	f.BoolVarP(&o.patch, "patch", "p", false, "with what each event changed in them")
	f.BoolVar(&o.reverse, "reverse", false, "oldest first")
	f.BoolVar(&o.internal, "internal", false, "with bookkeeping events")
	return cmd
}

func runLog(ctx context.Context, e *env, o logOptions) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.within, err = r.inTree(e.host, o.paths); err != nil {
		return err
	}
	v, err := r.find().view(ctx, e.host, o.target)
	if err != nil {
		return err
	}
	entries, err := v.entries(ctx, o)
	if err != nil {
		return err
	}
	if e.verbose {
		command, err := v.gitLog(ctx, entries, o)
		if err != nil {
			return err
		}
		fmt.Fprintln(e.stderr, command)
	}
	d := e.onScreen(v)
	return v.damage(e.paged(func(w io.Writer) error {
		for _, entry := range entries {
			if err := d.printEntry(ctx, w, entry, o); err != nil {
				return err
			}
		}
		return nil
	}))
}

// An entry is an event with what it changed in the files.
type entry struct {
	event   *conversation.Event
	before  string // tree before it
	changes []worktree.Change
}

// entries are the events to show, in the order to show them.
func (v *view) entries(ctx context.Context, o logOptions) ([]entry, error) {
	if o.turn > 0 {
		if _, _, err := v.turnEvents(o.turn); err != nil {
			return nil, err
		}
	}
	compare := o.stat || o.patch || len(o.paths) > 0
	before := v.events[0].Tree
	if compare {
		var err error
		if before, err = v.ground(ctx); err != nil {
			return nil, err
		}
	}
	var entries []entry
	for _, ev := range v.events {
		it := entry{event: ev, before: before}
		before = ev.Tree
		if o.turn > 0 && ev.Turn != o.turn || ev.Type().Internal() && !o.internal {
			continue
		}
		if compare && it.before != ev.Tree {
			var err error
			if it.changes, err = v.changes(ctx, it.before, ev.Tree, o.within); err != nil {
				return nil, err
			}
		}
		if len(o.paths) > 0 && len(it.changes) == 0 {
			continue
		}
		entries = append(entries, it)
	}
	if o.limit > 0 && len(entries) > o.limit {
		entries = entries[len(entries)-o.limit:]
	}
	if !o.reverse {
		slices.Reverse(entries)
	}
	return entries, nil
}

// changes are the differences of two trees in some paths, or in all.
func (v *view) changes(ctx context.Context, a, b string, paths []string) ([]worktree.Change, error) {
	tree, err := v.repo.trees(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := tree.Diff(ctx, a, b)
	if len(paths) == 0 || err != nil {
		return changes, err
	}
	return slices.DeleteFunc(changes, func(c worktree.Change) bool { return !worktree.Under(c.Path, paths) }), nil
}

func (v *screenView) printEntry(ctx context.Context, w io.Writer, it entry, o logOptions) error {
	if v.env.format.structured() {
		line, err := conversation.ViewJSON(it.event, v.id, v.incomplete(it.event))
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", line)
		}
		return err
	}
	if _, err := fmt.Fprintln(w, v.logLine(it.event)); err != nil {
		return err
	}
	if o.patch && len(it.changes) > 0 {
		return v.printPatch(ctx, w, it, o.within)
	}
	for _, c := range it.changes {
		fmt.Fprintf(w, "        %s %s (%s)\n", c.Status, shownPath(c.Path), conversation.PlusMinus(c.Added, c.Deleted))
	}
	return nil
}

func (v *screenView) printPatch(ctx context.Context, w io.Writer, it entry, paths []string) error {
	tree, err := v.repo.trees(ctx)
	if err != nil {
		return err
	}
	patch, err := tree.Patch(ctx, it.before, it.event.Tree, paths)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, colourPatch(v.palette, safetext.Reveal(string(patch))))
	return err
}

// unanswered is why a question got no answer, "" for other events. Subjects do not
// say it.
func unanswered(e *conversation.Event) string {
	if b, ok := e.Body.(*conversation.InquiryResponse); ok && b.Outcome != conversation.OutcomeAnswered {
		return b.Reason
	}
	return ""
}

// logLine is one event on one line.
func (v *screenView) logLine(e *conversation.Event) string {
	seq := fmt.Sprintf("@%-4d", e.Seq)
	when := e.Time.In(v.env.now().Location()).Format("15:04")
	line := safetext.Clean(e.Subject)
	if why := unanswered(e); why != "" {
		line += ": " + oneLine(why)
	}
	if v.incomplete(e) {
		line += "  ⏳"
	}
	if v.width > 0 {
		line = safetext.Fit(line, max(20, v.width-13))
	}
	switch e.Type() {
	case conversation.TypeChatRequest:
		line = v.palette.Bold(line)
	case conversation.TypeToolCallResponse:
		if b := e.Body.(*conversation.ToolCallResponse); b.IsError {
			line = v.palette.Red(line)
		}
	}
	return v.palette.Yellow(seq) + " " + v.palette.Dim(when) + "  " + line
}

// colourPatch colours the lines of a diff.
func colourPatch(p terminal.Palette, patch string) string {
	var b strings.Builder
	for line := range strings.Lines(patch) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"), strings.HasPrefix(text, "diff "):
			text = p.Bold(text)
		case strings.HasPrefix(text, "+"):
			text = p.Green(text)
		case strings.HasPrefix(text, "-"):
			text = p.Red(text)
		case strings.HasPrefix(text, "@@"):
			text = p.Cyan(text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}
