package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/blame"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

func newLogCommand(e *ui.Env) *cobra.Command {
	var o blame.LogOptions
	cmd := &cobra.Command{
		Use: "log [ID] [-- PATH…]", Short: "Show the events, newest first", GroupID: "look",
		Long: `Show the events of a conversation, newest first, each with its number. @14 names
event 14 in other commands. With paths, show only the events that changed them.

Exit codes: 0 done · 2 usage · 5 no such conversation or turn,
or it is incomplete here · 6 damaged`,
		Example: "  jp log\n  jp log 4400 -n 20 --stat\n  jp log -- auth/        # who changed these files",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, o.Paths = args[:at], args[at:]
			}
			if len(args) > 1 {
				return problem.Usage("jp log takes one conversation; paths come after --.")
			}
			if len(args) == 1 {
				o.Target = args[0]
			}
			if err := atLeast(cmd.Flags(), 1, "limit", "turn"); err != nil {
				return err
			}
			return runLog(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.Limit, "limit", "n", 0, "at most `N` events")
	f.IntVar(&o.Turn, "turn", 0, "only turn `N`")
	f.BoolVar(&o.Stat, "stat", false, "with the files that each event changed")
	f.BoolVarP(&o.Patch, "patch", "p", false, "with the diff of each event")
	f.BoolVar(&o.Reverse, "reverse", false, "oldest first")
	f.BoolVar(&o.Internal, "internal", false, "with bookkeeping events")
	return cmd
}

func runLog(ctx context.Context, e *ui.Env, o blame.LogOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.Within, err = r.InTree(e.Host, o.Paths); err != nil {
		return err
	}
	if followed, err := blame.Followed(ctx, e.Host, r, o.Target); err != nil {
		return err
	} else if followed != o.Target {
		o.Target, _ = repo.SplitTarget(followed)
	}
	l, err := blame.OpenLog(ctx, e.Host, r, o, e.Verbose)
	if err != nil {
		return err
	}
	v := l.View
	if e.Verbose && len(l.Entries) > 0 {
		command, err := blame.GitLog(ctx, v, l.Entries, o)
		if err != nil {
			return err
		}
		fmt.Fprintln(e.Stderr, command)
	}
	d, unseen := e.OnScreen(v), snapshot.UnseenWords(v, 20)
	err = e.Paged(func(w io.Writer) error {
		for entry, err := range l.Each(ctx) {
			if err != nil {
				return err
			}
			if err := printEntry(ctx, d, w, entry, o); err != nil {
				return err
			}
			if words := unseen(entry.Event); words != "" && o.Stat && !e.Format.Structured() {
				fmt.Fprintf(w, "        not in the record: %s\n", words)
			}
		}
		return nil
	})
	return v.Damage(err)
}

func printEntry(ctx context.Context, v *ui.ScreenView, w io.Writer, it blame.Entry, o blame.LogOptions) error {
	if v.Env.Format.Structured() {
		line, err := conversation.ViewJSON(it.Event, v.View.ID, v.View.Incomplete(it.Event))
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", line)
		}
		return err
	}
	if _, err := fmt.Fprintln(w, logLine(v, it.Event)); err != nil {
		return err
	}
	if o.Patch && len(it.Changes) > 0 {
		return v.PrintPatch(ctx, w, it, o.Within)
	}
	for _, c := range it.Changes {
		fmt.Fprintf(w, "        %s %s (%s)\n", c.Status, repo.ShownPath(c.Path), conversation.PlusMinus(c.Added, c.Deleted))
	}
	return nil
}

func logLine(v *ui.ScreenView, e *conversation.Event) string {
	seq := fmt.Sprintf("@%-4d", e.Seq)
	when := e.Time.In(v.Env.Now().Location()).Format("15:04")
	line := v.Line(e)
	if v.View.Incomplete(e) {
		line += "  ⏳"
	}
	if v.Width > 0 {
		line = safetext.Fit(line, max(20, v.Width-13))
	}
	switch e.Type() {
	case conversation.TypeChatRequest:
		line = v.Palette.Bold(line)
	case conversation.TypeToolCallResponse:
		if b := e.Body.(*conversation.ToolCallResponse); b.IsError && e.Closed() == "" {
			line = v.Palette.Red(line)
		}
	}
	return v.Palette.Yellow(seq) + " " + v.Palette.Dim(when) + "  " + line
}
