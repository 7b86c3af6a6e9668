package main

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
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
	if o.paths, err = r.inTree(e, o.paths); err != nil {
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
	if err := c.show(ctx, e, o); err != nil {
		return v.damage(err)
	}
	if !e.format.structured() {
		left.tell(e)
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
	v, ev, err := r.moment(ctx, e, word)
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
		v, ev, err := r.moment(ctx, e, word)
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
	v, err := r.view(ctx, e, target)
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

// worktree compares the snapshot of an event, or the last, with the files now.
func (c *comparison) worktree(ctx context.Context, ev *conversation.Event) error {
	newest := c.view.events[len(c.view.events)-1]
	if ev == nil {
		ev = newest
	}
	files, err := c.view.repo.openFiles(ctx)
	if err != nil {
		return err
	}
	sight, err := files.Look(ctx, turnloop.Glance{Tree: newest.Tree})
	if err != nil {
		return err
	}
	if files.off {
		return withoutSnapshots()
	}
	if then := c.view.lastPlace(); then != nil && !then.SameWorktree(sight.Git) {
		c.view.env.note("%s worked in %s; compared are the files here.", c.view.id, whichWorktree(*then, sight.Git))
	}
	c.add(span{before: ev.Tree, after: sight.Tree})
	c.blame(ev.Seq+1, newest.Seq)
	return nil
}

// withoutSnapshots says that there is nothing to compare with.
func withoutSnapshots() error {
	return usage("jp keeps no snapshots of the files here (no working tree, too wide a one, or snapshot.mode is off).").
		hint("git worktree add DIR", "makes a working tree of a bare repository: jp keeps snapshots there").
		hint("jp config set snapshot.mode tracked+tools", "where it is off: snapshots from now on")
}

// turn compares what the tools changed in a turn, or in all.
func (c *comparison) turn(which string) error {
	if which == "all" {
		c.tools(c.view.events[0].Seq, c.view.events[len(c.view.events)-1].Seq)
		return nil
	}
	n, err := strconv.Atoi(which)
	if err != nil {
		return usage("--turn %q is neither a turn's number nor all.", which)
	}
	first, last, err := c.view.turnEvents(n)
	if err == nil {
		c.tools(first.Seq, last.Seq)
	}
	return err
}

// show writes the differences in the form that was asked for.
func (c *comparison) show(ctx context.Context, e *env, o diffOptions) error {
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
