package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
)

type forkOptions struct {
	word     string // [ID][@E]
	cut      forkCut
	title    string
	activate bool
	adopt    bool
	restore  bool
	worktree string
	branch   string
	yes      bool
}

const forkHelp = `Make a new conversation out of another one's events. The source never changes.

Up to any event (--until), it shares them: that costs one ref and one commit,
however long the conversation is. With a new start (--from, --last) the events
are copied and numbered anew; what was set before stays in force, and a turn is
kept from a request on. Bounds are inclusive. An end inside a turn leaves an
incomplete turn, which jp continue goes on with. No more of the source is read
than that needs: damage further back is shared, and found by jp verify.

--worktree DIR adds a git worktree at the HEAD that was recorded there, with the
files as they were after that event as uncommitted changes; what no snapshot has,
such as what looks like a secret, is not there, and is listed. jp in it starts on
the fork. --restore goes back in place: the fork becomes this session's, and the
files that the tools wrote since come back, where nobody else wrote them. Only
one of -a, --restore and --worktree makes sense at a time.

A conversation that someone else wrote, or that was fetched (REMOTE/ID), can be
read and forked, and nothing of it runs. --adopt makes the fork yours: calls that are open get an error in place of
a result, and what was allowed, remembered or reasoned there counts no more, nor do its
settings and its model: yours answers.

JSON: {"id","ref","head","forked_from":{"id","seq","commit"},"incomplete","worktree"},
with --worktree also "left_out":[{"path","why"}]: what is in no snapshot, and so
not there; "unconverted":[{"path","filter","why"}]: files that need a filter which jp
does not run, and so are not there, or content of LFS that is not here; with --restore also "files":[{"path","done","reason"}]

Exit codes: 0 done · 2 usage · 3 written by a newer jp, or nobody to ask ·
4 locked · 5 no such conversation or event, or it is incomplete here ·
6 damaged in what has to be read`

func newForkCommand(e *env) *cobra.Command {
	var o forkOptions
	cmd := &cobra.Command{
		Use: "fork [ID][@E]", GroupID: "shape", Args: cobra.MaximumNArgs(1),
		Short: "Make a new conversation out of another one, up to any event", Long: forkHelp,
		Example: "  jp fork @15                       # another way from here, also in the middle of a turn\n" +
			"  jp fork 4400 --until 15 -a        # and go on there\n" +
			"  jp fork @15 --worktree ../try     # and try it beside this one, with the files of then\n" +
			"  jp fork @15 --restore             # go back to there, files and all\n" +
			"  jp fork --last 2 -a               # forget all but the last two turns\n" +
			"  jp fork 4400 --adopt              # someone else's, made yours",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := atLeast(cmd.Flags(), 1, "first", "last"); err != nil {
				return err
			}
			o.word = strings.Join(args, "")
			return runFork(cmd.Context(), e, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.cut.until, "until", "", "keep the events up to `E`, with it")
	f.StringVar(&o.cut.from, "from", "", "keep the events from `E` on, with it; a turn from its start")
	f.IntVar(&o.cut.first, "first", 0, "keep only the first `N` turns (of what else is kept)")
	f.IntVar(&o.cut.last, "last", 0, "keep only the last `N` turns; with --first: both")
	f.StringVar(&o.title, "title", "", "give the fork a `TITLE`")
	f.BoolVarP(&o.activate, "activate", "a", false, "make it this session's conversation")
	f.BoolVar(&o.restore, "restore", false, "make it this session's, and bring the files back to what they were then")
	f.StringVar(&o.worktree, "worktree", "", "add a git worktree in `DIR` that goes on with the fork")
	f.StringVarP(&o.branch, "branch", "b", "", "with --worktree: on a new branch `NAME`, not a detached HEAD")
	f.BoolVar(&o.adopt, "adopt", false, "make someone else's conversation yours")
	f.BoolVarP(&o.yes, "yes", "y", false, "with --restore: bring the files back without asking")
	cmd.MarkFlagsMutuallyExclusive("worktree", "restore")
	cmd.MarkFlagsMutuallyExclusive("worktree", "activate")
	return cmd
}

func runFork(ctx context.Context, e *env, o forkOptions) error {
	if o.branch != "" && o.worktree == "" {
		return usage("-b %s names the branch of a worktree; say which with --worktree DIR.", o.branch)
	}
	if err := checkTitle(o.title); err != nil {
		return err
	}
	r, err := e.openRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.store.ExpectWrite()
	target, event := splitTarget(o.word)
	if event != "" && o.cut.until != "" {
		return usage("jp fork takes one last event: @%s or --until %s.", event, o.cut.until)
	}
	if event != "" {
		o.cut.until = event
	}
	v, err := o.cut.view(ctx, r, target)
	if err != nil {
		return err
	}
	made, err := newFork(v, o.cut)
	if err != nil {
		return err
	}
	f := &forkScreen{made, e}
	f.title, f.adopts = o.title, o.adopt && !f.local()
	if v.remote != "" && f.absent(ctx) {
		e.note("Large texts of %s are not here. %s   brings them", v.name(), r.fetchTexts(v.id, v.remote))
	}
	switch {
	case o.worktree != "":
		return f.beside(ctx, o)
	case o.restore && v.remote != "":
		return lookOnly(conversation.Info{ID: v.id, Remote: v.remote})
	case o.restore:
		return f.rewind(ctx, o)
	}
	return f.plain(ctx, o)
}

// A forkScreen makes a fork at the terminal.
type forkScreen struct {
	*fork
	env *env
}

// plain makes the fork, and leaves the files as they are. It stands where the
// working tree is now: that is where it goes on.
func (f *forkScreen) plain(ctx context.Context, o forkOptions) error {
	place, err := f.repo.here(ctx)
	if err != nil {
		return err
	}
	if err := f.create(ctx, place); err != nil {
		return err
	}
	if o.activate {
		if err := f.repo.session(f.env.host).use(f.id, f.env.now()); err != nil {
			return err
		}
	}
	return f.report(o, forkResult{})
}

func (f *forkScreen) report(o forkOptions, r forkResult) error {
	_, tail := conversation.Split(f.stream.Events())
	incomplete := tail != nil && !tail.Empty()
	if f.env.format.structured() {
		object := map[string]any{
			"id": f.id, "ref": refOf(f.id), "head": f.head, "incomplete": incomplete, "worktree": nil,
			"forked_from": map[string]any{"id": f.view.id, "seq": f.at.Seq, "commit": f.at.Commit},
		}
		if r.worktree != "" {
			object["worktree"], object["left_out"] = r.worktree, r.leftOut.list()
			if len(r.unconverted) > 0 {
				object["unconverted"] = r.unconverted
			}
		}
		if r.files != nil {
			object["files"] = r.files
		}
		return writeJSON(f.env.results(), object)
	}
	if !f.env.quiet {
		f.explain(o, r, tail, incomplete)
	}
	_, err := fmt.Fprintln(f.env.results(), f.id)
	return err
}

// explain says on stderr what the fork is, and what can be done with it.
func (f *forkScreen) explain(o forkOptions, r forkResult, tail *conversation.IncompleteTurn, incomplete bool) {
	out := f.env.stderr
	if f.shares {
		fmt.Fprintf(out, "Forked %s at @%d (turn %d, %s).\n", f.view.name(), f.at.Seq, f.at.Turn, safetext.Show(conversation.Shorten(f.at.Subject, 40)))
	} else {
		fmt.Fprintf(out, "Copied %s of %s, from @%d to @%d.\n", conversation.Count(len(f.kept), "event"), f.view.name(), f.first.Seq, f.at.Seq)
	}
	standing := f.standing(f.stream.Events(), f.id)
	local := standing == conversation.StandingOwn
	switch {
	case !local:
		words := "It " + f.repo.standings().standingWords(standing, f.repo.standings().elsewhere(f.stream.Events()))
		if standing == conversation.StandingForeign {
			words = "Someone else wrote it"
		}
		fmt.Fprintf(out, "%s: it can be read. jp fork %s --adopt makes a fork that is yours.\n", words, f.id.Short())
	case o.adopt && !f.adopts:
		fmt.Fprintln(out, "It was yours already; there was nothing to adopt.")
	}
	if r.worktree != "" {
		dir := o.worktree
		if f.env.elsewhere() {
			dir = r.worktree
		}
		on := ", where jp goes on with it"
		if !local {
			on = ""
		}
		fmt.Fprintf(out, "Its files are in %s%s.   cd %s\n", safetext.Show(r.worktree), on, safetext.Escape(dir))
		if !r.leftOut.none() {
			fmt.Fprintf(out, "Changed, but in no snapshot, so not there as they were then: %s.\n", r.leftOut.words(20, true))
		}
		tellUnconverted(out, dir, r.unconverted)
	}
	if o.activate && r.files == nil && f.view.remote == "" && f.behind() {
		fmt.Fprintf(out, "Your files stay as they are. jp restore %s@%d   brings back those of then\n", f.view.id.Short(), f.at.Seq)
	}
	if !incomplete || !local {
		return
	}
	line := fmt.Sprintf("Turn %d is incomplete there", tail.Number)
	if n := len(tail.Ledger().Open()); n > 0 {
		line += ": " + conversation.Count(n, "call") + " open"
	}
	fmt.Fprintf(out, "%s.   jp continue %s   goes on with it\n", line, f.id.Short())
}

// beside makes the fork with a working tree of its own.
func (f *forkScreen) beside(ctx context.Context, o forkOptions) error {
	done, err := f.withWorktree(ctx, o.worktree, o.branch)
	if err != nil {
		return err
	}
	return f.report(o, done)
}

// rewind goes back in place, once the user has agreed.
func (f *forkScreen) rewind(ctx context.Context, o forkOptions) error {
	w, err := newRewind(ctx, f.fork, o.word, o.yes)
	if err != nil {
		return err
	}
	defer w.close()
	files, result := f.env.putBackScreen(w.files), w.result
	if len(result.puts) > 0 && !o.yes {
		if err := files.confirmRewind(ctx, result); err != nil {
			return err
		}
	}
	if err := w.do(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if !f.env.format.structured() && !f.env.quiet {
		if len(result.puts) > 0 || len(result.left()) > 0 {
			files.list(f.env.stderr, files.palette, result, "Put back")
		} else if err := files.printNothing(f.env.stderr); err != nil {
			return err
		}
	}
	if err := f.report(forkOptions{}, forkResult{files: result.Files}); err != nil || !result.failed {
		return err
	}
	return &failure{exit: exitFailed, silent: true}
}

func (b *putBackScreen) confirmRewind(ctx context.Context, r *putBackResult) error {
	files := conversation.Count(len(r.puts), "file")
	at := fmt.Sprintf("%s@%d", b.id.Short(), b.asOf)
	return b.env.confirm(ctx, confirmation{
		id: b.id, question: "Go back, and put " + files + " back?",
		list: func(w io.Writer, p terminal.Palette) { b.list(w, p, r, "Would put back") },
		unasked: fail(exitDecision, "usage", "going back changes %s, and there is no terminal to ask.", files).about(b.id).
			hint("jp fork --restore -y "+at, "do it").hint("jp restore --dry-run "+at, "list the files"),
	})
}
