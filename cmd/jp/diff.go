package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
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

const diffHelp = `Show what changed in the files. Without arguments: what the tools changed in
the last turn. What others changed meanwhile is left out; where they changed a
file between two tools, it is shown in pieces.

  @E            what this event changed, whoever it was
  @A..@B        all that changed between two snapshots
  ID@E ID@E     the files of one conversation against those of another
  --turn N|all  what the tools changed in that turn, or in all
  --worktree    the last snapshot, or that of @E, against the files now

It is for reading: control characters are shown as ^X, and line ends as one. To apply
it, take the trees from jp show @E: git diff TREE TREE.

JSON: [{"path","status":"A|M|D","added","deleted","events":[…]}]: lines (-1 where
the content is binary), and the events that changed the file.

Exit codes: 0 done · 1 with --exit-code: there are differences · 2 usage ·
5 no such conversation, event or turn, or it is incomplete here · 6 damaged`

func newDiffCommand(e *env) *cobra.Command {
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
				return usage("jp diff compares two events at most; paths come after --.")
			}
			return runDiff(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.turn, "turn", "", "what the tools changed in turn `N`, or in all")
	f.BoolVar(&o.worktree, "worktree", false, "against the files as they are now")
	f.BoolVar(&o.stat, "stat", false, "only how much changed in which file")
	f.BoolVar(&o.nameOnly, "name-only", false, "only the names of the files")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit 1 if there are differences")
	cmd.MarkFlagsMutuallyExclusive("turn", "worktree")
	cmd.MarkFlagsMutuallyExclusive("stat", "name-only")
	return cmd
}

func runDiff(ctx context.Context, e *env, o diffOptions) error {
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.paths, err = r.inTree(e.host, o.paths); err != nil {
		return err
	}
	v, c, err := r.compare(ctx, e, o)
	if err != nil {
		return err
	}
	if err := c.find(ctx, o.paths); err != nil {
		return err
	}
	left := v.unseenBetween(c.seqs[0], c.seqs[1], o.paths)
	if err := c.known(ctx, slices.DeleteFunc(slices.Clone(o.paths), left.has)); err != nil {
		return err
	}
	shown := shownComparison{c, e.onScreen(v)}
	if err := shown.show(ctx, e, o); err != nil {
		return v.damage(err)
	}
	if !e.format.structured() {
		left.tell(e.host)
	}
	if o.exitCode && len(c.files) > 0 {
		return &failure{exit: exitFailed, silent: true}
	}
	return v.damage(nil)
}

// compare says what the command line wants to be compared.
func (r *repo) compare(ctx context.Context, e *env, o diffOptions) (*view, *comparison, error) {
	word := strings.Join(o.words, " ")
	from, to, isRange := strings.Cut(word, "..")
	switch {
	case len(o.words) == 2 && (o.turn != "" || o.worktree), isRange && (o.turn != "" || o.worktree):
		return nil, nil, usage("--turn and --worktree are about one conversation, and take no two events.")
	case len(o.words) == 2:
		return r.compareTwo(ctx, e, o.words)
	case isRange:
		return r.compareRange(ctx, e, from, to)
	}
	v, ev, err := r.find().moment(ctx, e.host, word)
	if err != nil {
		return nil, nil, err
	}
	c, err := v.comparison(ctx)
	switch {
	case err != nil:
	case o.worktree:
		err = c.worktree(ctx, ev)
	case o.turn != "":
		err = c.turn(o.turn)
	case ev != nil:
		c.add(span{before: v.beforeTree(ev), after: ev.Tree})
		c.blame(ev.Seq, ev.Seq)
	default:
		err = c.turn(strconv.Itoa(v.lastTurn()))
	}
	return v, c, err
}

// compareTwo compares events of two conversations; without an event it is the
// newest.
func (r *repo) compareTwo(ctx context.Context, e *env, words []string) (*view, *comparison, error) {
	var views [2]*view
	var trees [2]string
	for i, word := range words {
		v, ev, err := r.find().moment(ctx, e.host, word)
		if err != nil {
			return nil, nil, err
		}
		if ev == nil {
			ev = v.events[len(v.events)-1]
		}
		views[i], trees[i] = v, ev.Tree
	}
	c, err := views[0].comparison(ctx)
	if err == nil {
		c.add(span{before: trees[0], after: trees[1]})
	}
	return views[0], c, err
}

// compareRange compares two events of one conversation; where one is left out
// it is the first or the last.
func (r *repo) compareRange(ctx context.Context, e *env, from, to string) (*view, *comparison, error) {
	target, a, _ := strings.Cut(from, "@")
	if !strings.Contains(from, "@") {
		target, a = "", from
	}
	v, err := r.find().view(ctx, e.host, target)
	if err != nil {
		return nil, nil, err
	}
	first, last := v.events[0], v.events[len(v.events)-1]
	if a != "" {
		if first, err = selectEvent(v.events, a, v.id, e.now()); err != nil {
			return nil, nil, err
		}
	}
	if to != "" {
		if last, err = selectEvent(v.events, to, v.id, e.now()); err != nil {
			return nil, nil, err
		}
	}
	c, err := v.comparison(ctx)
	if err == nil {
		c.add(span{before: first.Tree, after: last.Tree})
		c.blame(min(first.Seq, last.Seq)+1, max(first.Seq, last.Seq))
	}
	return v, c, err
}

// A shownComparison is a comparison as a command shows it.
type shownComparison struct {
	*comparison
	*screenView
}

func (c shownComparison) printPatch(ctx context.Context, w io.Writer) error {
	for _, s := range c.spans {
		if len(s.changes) == 0 {
			continue
		}
		var paths []string
		for _, ch := range s.changes {
			if !s.whole {
				paths = append(paths, ch.Path)
			}
		}
		patch, err := c.tree.Patch(ctx, s.before, s.after, paths)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, colourPatch(c.palette, safetext.Reveal(string(patch)))); err != nil {
			return err
		}
	}
	return nil
}

// printStat writes how much changed in which file, as git does.
func (c shownComparison) printStat(w io.Writer) error {
	if len(c.files) == 0 {
		return nil
	}
	name, most, count, added, deleted := 0, 0, 1, 0, 0
	for _, f := range c.files {
		if f.Added < 0 {
			count = len("Bin")
		}
		name = max(name, safetext.Columns(safetext.Show(f.path)))
		most = max(most, f.Added+f.Deleted)
		added, deleted = added+max(0, f.Added), deleted+max(0, f.Deleted)
	}
	width := c.width
	if width == 0 {
		width = terminal.DefaultWidth
	}
	count = max(count, len(itoa(most)))
	name = min(name, max(10, width-count-16))
	bar := max(10, width-name-count-6)
	for _, f := range c.files {
		label := safetext.Fit(safetext.Show(f.path), name)
		label += strings.Repeat(" ", max(0, name-safetext.Columns(label)))
		if _, err := fmt.Fprintf(w, " %s | %s\n", label, c.graph(f, count, bar, most)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, " %s changed, %s(+), %s(-)\n", conversation.Count(len(c.files), "file"),
		conversation.Count(added, "insertion"), conversation.Count(deleted, "deletion"))
	return err
}

// graph is the number of changed lines of a file, and a bar for it.
func (c shownComparison) graph(f fileDiff, count, bar, most int) string {
	if f.Added < 0 {
		return fmt.Sprintf("%*s", count, "Bin")
	}
	plus, minus := f.Added, f.Deleted
	if most > bar {
		plus, minus = scaled(plus, bar, most), scaled(minus, bar, most)
	}
	number := fmt.Sprintf("%*d ", count, f.Added+f.Deleted)
	return strings.TrimRight(number+c.palette.Green(strings.Repeat("+", plus))+c.palette.Red(strings.Repeat("-", minus)), " ")
}

// show writes the differences in the form that was asked for.
func (c shownComparison) show(ctx context.Context, e *env, o diffOptions) error {
	if e.format.structured() {
		return writeJSON(e.results(), c.files)
	}
	return e.paged(func(w io.Writer) error {
		switch {
		case o.nameOnly:
			for _, f := range c.files {
				if _, err := io.WriteString(w, safetext.Show(f.path)+"\n"); err != nil {
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
