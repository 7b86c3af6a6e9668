package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/resume"
	"jp/agent/snapshot"
	"jp/blame"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
)

type diffOptions struct {
	words    []string
	paths    []string
	turn     string
	worktree bool
	stat     bool
	nameOnly bool
	exitCode bool
}

const diffHelp = `Show changes of files. Without arguments: what the tools changed in the last
turn. Changes by others are left out. If others changed a file between two tools,
the file is shown in pieces.

  @E            what this event changed, by anyone
  @A..@B        all changes between two snapshots
  ID@E ID@E     the files of one conversation against those of another
  --turn N|all  what the tools changed in that turn, or in all
  --worktree    the last snapshot, or that of @E, against the files now

On a terminal, and with colours, jp shows control characters as ^X and unifies line
ends. A pipe gets the bytes of the files, which git apply takes.

JSON: [{"path","status":"A|M|D","added","deleted","events":[…]}]: lines (-1 if
the content is binary), and the events that changed the file.

Exit codes: 0 done · 1 with --exit-code: there are differences · 2 usage ·
5 no such conversation, event or turn, or it is incomplete here · 6 damaged`

func newDiffCommand(e *ui.Env) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use: "diff [@E|@A..@B|ID@E ID@E] [-- PATH…]", GroupID: "files",
		Short: "Show what the tools changed in the files", Long: diffHelp,
		Example: "  jp diff\n  jp diff --turn all --stat\n  jp diff @18\n  jp diff @9..@30 -- auth/\n  jp diff 4400@-1 6120@-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, o.paths = args[:at], args[at:]
			}
			if o.words = args; len(args) > 2 {
				return problem.Usage("jp diff compares two events at most; paths come after --.")
			}
			return runDiff(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.turn, "turn", "", "changes by tools in turn `N`, or in all")
	f.BoolVar(&o.worktree, "worktree", false, "against the files as they are now")
	f.BoolVar(&o.stat, "stat", false, "only the number of changed lines of each file")
	f.BoolVar(&o.nameOnly, "name-only", false, "only the names of the files")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit 1 if there are differences")
	cmd.MarkFlagsMutuallyExclusive("turn", "worktree")
	cmd.MarkFlagsMutuallyExclusive("stat", "name-only")
	return cmd
}

func runDiff(ctx context.Context, e *ui.Env, o diffOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.paths, err = r.InTree(e.Host, o.paths); err != nil {
		return err
	}
	v, c, err := compare(ctx, r, e, &o)
	if err != nil {
		return err
	}
	if err := c.Find(ctx, o.paths, o.stat || e.Format.Structured()); err != nil {
		return err
	}
	left := snapshot.UnseenBetween(v, c.Seqs[0], c.Seqs[1], o.paths)
	if len(o.words) == 0 && !o.worktree && !e.Format.Structured() {
		lost, err := resume.LostChanges(ctx, v, o.paths...)
		if err != nil {
			return err
		}
		left.AddUnknown(lost...)
	}
	if err := c.Known(ctx, slices.DeleteFunc(slices.Clone(o.paths), left.Has)); err != nil {
		return err
	}
	shown := shownComparison{c, e.OnScreen(v)}
	if err := shown.show(ctx, e, o); err != nil {
		return v.Damage(err)
	}
	if !e.Format.Structured() {
		left.Tell(e.Host)
		switch {
		case o.turn == "" || len(c.Files) > 0:
		case o.turn == "all":
			e.Note("No changes by tools.")
		default:
			e.Note("No changes by tools in turn %s.   %s", o.turn, action.DiffAll(v.Name()))
		}
	}
	if o.exitCode && len(c.Files) > 0 {
		return &problem.Error{Exit: problem.ExitFailed, Silent: true}
	}
	return v.Damage(nil)
}

// reach is how far back to read, apart from a named event.
func (o diffOptions) reach() repo.Reach {
	if n, err := strconv.Atoi(o.turn); err == nil {
		return repo.BeforeTurn(n)
	}
	if o.turn != "" {
		return nil
	}
	return func(back []*conversation.Event) bool { return back[len(back)-1].Turn < back[0].Turn }
}

// compare makes the comparison that the command line asks for. It sets the turn if that is one of a turn.
func compare(ctx context.Context, r *repo.Repo, e *ui.Env, o *diffOptions) (*repo.View, *blame.Comparison, error) {
	word := strings.Join(o.words, " ")
	from, to, isRange := strings.Cut(word, "..")
	switch {
	case len(o.words) == 2 && (o.turn != "" || o.worktree), isRange && (o.turn != "" || o.worktree):
		return nil, nil, problem.Usage("--turn and --worktree are about one conversation, and take no two events.")
	case len(o.words) == 2:
		var views [2]*repo.View
		var trees [2]string
		for i, word := range o.words {
			v, ev, err := r.Find().EventAlone(ctx, e.Host, word, func([]*conversation.Event) bool { return true })
			if err != nil {
				return nil, nil, err
			}
			if ev == nil {
				ev = v.Events[len(v.Events)-1]
			}
			views[i], trees[i] = v, ev.Tree
		}
		c, err := blame.NewComparison(ctx, views[0])
		if err == nil {
			c.Add(blame.Span{Before: trees[0], After: trees[1]})
		}
		return views[0], c, err
	case isRange:
		// A missing event is the first or the last.
		target, a, _ := strings.Cut(from, "@")
		if !strings.Contains(from, "@") {
			target, a = "", from
		}
		v, first, last, err := r.Find().EventRange(ctx, e.Host, target, a, to)
		if err != nil {
			return nil, nil, err
		}
		c, err := blame.NewComparison(ctx, v)
		if err == nil {
			c.Add(blame.Span{Before: first.Tree, After: last.Tree})
			err = c.Blame(ctx, min(first.Seq, last.Seq)+1, max(first.Seq, last.Seq))
		}
		return v, c, err
	}
	find := r.Find().EventAlone
	if o.worktree || o.turn != "" {
		find = r.Find().EventNamed
	}
	v, ev, err := find(ctx, e.Host, word, o.reach())
	if err != nil {
		return nil, nil, err
	}
	c, err := blame.NewComparison(ctx, v)
	switch {
	case err != nil:
	case o.worktree:
		err = c.Worktree(ctx, ev)
	case o.turn != "":
		err = c.Turn(ctx, o.turn)
	case ev != nil:
		c.Add(blame.Span{Before: v.BeforeTree(ev), After: ev.Tree})
		err = c.Blame(ctx, ev.Seq, ev.Seq)
	default:
		o.turn = strconv.Itoa(v.LastTurn())
		err = c.Turn(ctx, o.turn)
	}
	return v, c, err
}

// A shownComparison is a comparison as a command shows it.
type shownComparison struct {
	comparison *blame.Comparison
	screen     *ui.ScreenView
}

func (c shownComparison) printPatch(ctx context.Context, w io.Writer) error {
	for _, s := range c.comparison.Spans {
		if len(s.Changes) == 0 {
			continue
		}
		var paths []string
		for _, ch := range s.Changes {
			if !s.Whole {
				paths = append(paths, ch.Path)
			}
		}
		patch, err := c.comparison.Tree.Patch(ctx, s.Before, s.After, paths, c.forPrograms())
		if err != nil {
			return err
		}
		if !c.forPrograms() {
			patch = []byte(ui.ColourPatch(c.screen.Palette, safetext.Reveal(string(patch))))
		}
		if _, err := w.Write(patch); err != nil {
			return err
		}
	}
	return nil
}

// forPrograms reports whether a patch goes to a program, which takes the bytes as they are,
// and not to a person.
func (c shownComparison) forPrograms() bool {
	return !ui.IsTerminal(c.screen.Env.Stdout) && c.screen.Palette == terminal.Palette{}
}

// printStat writes how much changed in which file, as git does.
func (c shownComparison) printStat(w io.Writer) error {
	if len(c.comparison.Files) == 0 {
		return nil
	}
	name, most, count, added, deleted := 0, 0, 1, 0, 0
	for _, f := range c.comparison.Files {
		if f.Added < 0 {
			count = len("Bin")
		}
		name = max(name, safetext.Columns(safetext.Show(f.RawPath)))
		most = max(most, f.Added+f.Deleted)
		added, deleted = added+max(0, f.Added), deleted+max(0, f.Deleted)
	}
	width := c.screen.Width
	if width == 0 {
		width = terminal.DefaultWidth
	}
	count = max(count, len(problem.Itoa(most)))
	name = min(name, max(10, width-count-16))
	bar := max(10, width-name-count-6)
	for _, f := range c.comparison.Files {
		label := safetext.Fit(safetext.Show(f.RawPath), name)
		label += strings.Repeat(" ", max(0, name-safetext.Columns(label)))
		if _, err := fmt.Fprintf(w, " %s | %s\n", label, c.graph(f, count, bar, most)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, " %s changed, %s(+), %s(-)\n", conversation.Count(len(c.comparison.Files), "file"),
		conversation.Count(added, "insertion"), conversation.Count(deleted, "deletion"))
	return err
}

// graph is the number of changed lines of a file, and a bar for it.
func (c shownComparison) graph(f blame.FileDiff, count, bar, most int) string {
	if f.Added < 0 {
		return fmt.Sprintf("%*s", count, "Bin")
	}
	plus, minus := f.Added, f.Deleted
	if most > bar {
		plus, minus = blame.Scaled(plus, bar, most), blame.Scaled(minus, bar, most)
	}
	number := fmt.Sprintf("%*d ", count, f.Added+f.Deleted)
	return strings.TrimRight(number+c.screen.Palette.Green(strings.Repeat("+", plus))+c.screen.Palette.Red(strings.Repeat("-", minus)), " ")
}

// show writes the differences in the form that was asked for.
func (c shownComparison) show(ctx context.Context, e *ui.Env, o diffOptions) error {
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), c.comparison.Files)
	}
	return e.Paged(func(w io.Writer) error {
		switch {
		case o.nameOnly:
			for _, f := range c.comparison.Files {
				if _, err := io.WriteString(w, safetext.Show(f.RawPath)+"\n"); err != nil {
					return err
				}
			}
			return nil
		case o.stat:
			return c.printStat(w)
		}
		return c.printPatch(ctx, w)
	})
}
