package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/fork"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/undo"
)

type forkOptions struct {
	word     string // [ID][@E]
	cut      fork.ForkCut
	title    string
	activate bool
	adopt    bool
	restore  bool
	worktree string
	branch   string
	backups  bool
	yes      bool
}

const forkHelp = `Make a new conversation from another one's events. The source stays the same.

Up to an event (--until), the fork shares the events: one new ref and one commit,
at any length. With a new start (--from, --last), jp copies and renumbers the
events. Earlier settings stay in force, and the first turn is cut at a request.
Bounds are inclusive. An end inside a turn leaves an incomplete turn, which
jp continue resumes. jp reads only what it needs: damage further back is shared,
and jp verify finds it.

--detached-base copies the events without your commits below them, so that a push
leaves these here.

--worktree DIR adds a git worktree at the recorded HEAD, with the files of that
event as uncommitted changes. jp in DIR starts on the fork. Files that are in no
snapshot, such as those that look like secrets, are missing and listed.
--with-backups adds your untracked and ignored files, as jp kept them last.
--restore goes back in place: the fork becomes this session's, and files that
only the tools wrote since come back. Use one of -a, --restore and --worktree.

You can read and fork someone else's conversation, or a fetched one (REMOTE/ID),
but jp runs nothing in it. --adopt makes the fork yours. Its open calls get an
error as their result. Its permissions, remembered answers, reasoning, settings
and model have no effect any more: yours apply.

JSON: {"id","ref","head","forked_from":{"id","seq","commit"},"incomplete","worktree"};
with --worktree also "left_out":[{"path","why"}]: files in no snapshot, and
"unconverted":[{"path","filter","why"}]: files that need a filter that jp does
not run, or whose LFS content is missing;
with --restore or --with-backups also "files":[{"path","done","reason"}]

Exit codes: 0 done · 2 usage · 3 written by a newer jp, or no terminal to ask ·
4 locked · 5 no such conversation or event, or it is incomplete here ·
6 damaged in a part that the fork needs`

func newForkCommand(e *ui.Env) *cobra.Command {
	var o forkOptions
	cmd := &cobra.Command{
		Use: "fork [ID][@E]", GroupID: "shape", Args: cobra.MaximumNArgs(1),
		Short: "Make a new conversation from another one, up to any event", Long: forkHelp,
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
	f.StringVar(&o.cut.Until, "until", "", "keep the events up to and including `E`")
	f.StringVar(&o.cut.From, "from", "", "keep the events from `E` on, or from the start of its turn")
	f.IntVar(&o.cut.First, "first", 0, "keep only the first `N` of the kept turns")
	f.IntVar(&o.cut.Last, "last", 0, "keep only the last `N` turns; with --first: both")
	f.StringVar(&o.title, "title", "", "give the fork a `TITLE`")
	f.BoolVarP(&o.activate, "activate", "a", false, "make it this session's conversation")
	f.BoolVar(&o.restore, "restore", false, "make it this session's, and bring the files of that event back")
	f.StringVar(&o.worktree, "worktree", "", "add a git worktree in `DIR` that goes on with the fork")
	f.StringVarP(&o.branch, "branch", "b", "", "with --worktree: on a new branch `NAME`, not a detached HEAD")
	f.BoolVar(&o.backups, "with-backups", false, "with --worktree: bring your untracked and ignored files along")
	f.BoolVar(&o.adopt, "adopt", false, "make someone else's conversation yours")
	f.BoolVarP(&o.yes, "yes", "y", false, "with --restore: bring the files back without asking")
	f.BoolVar(&o.cut.Detached, "detached-base", false, "copy the events, without your commits below them")
	cmd.MarkFlagsMutuallyExclusive("worktree", "restore")
	cmd.MarkFlagsMutuallyExclusive("worktree", "activate")
	return cmd
}

func runFork(ctx context.Context, e *ui.Env, o forkOptions) error {
	if o.branch != "" && o.worktree == "" {
		return problem.Usage("-b %s names the branch of a worktree; say which with --worktree DIR.", o.branch)
	}
	if o.backups && o.worktree == "" {
		return problem.Usage("--with-backups brings files into a worktree; say which with --worktree DIR.")
	}
	if err := agent.CheckTitle(o.title); err != nil {
		return err
	}
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	r.Store.PrepareWrite()
	target, event := repo.SplitTarget(o.word)
	if event != "" && o.cut.Until != "" && o.cut.Until != event {
		return problem.Usage("jp fork takes one last event: @%s or --until %s.", event, o.cut.Until)
	}
	if event != "" {
		o.cut.Until = event
	}
	o.cut.Alone = !o.restore
	if until, at := repo.SplitTarget(o.cut.Until); at != "" && target == "" {
		target = until
	}
	v, err := o.cut.View(ctx, r, target)
	if err != nil {
		return err
	}
	made, err := fork.New(v, o.cut)
	if err != nil {
		return err
	}
	f := &forkScreen{made, e}
	f.fork.Title, f.fork.Adopts = o.title, o.adopt && !f.fork.Local()
	if v.Remote != "" && f.fork.Absent(ctx) {
		e.Note("Large texts of %s are not here. %s   brings them", v.Name(), r.FetchTexts(v.ID, v.Remote))
	}
	switch {
	case o.worktree != "":
		done, err := f.fork.WithWorktree(ctx, o.worktree, o.branch, o.backups)
		if err != nil {
			return err
		}
		return f.report(o, done)
	case o.restore && v.Remote != "":
		return repo.LookOnly(conversation.Info{ID: v.ID, Remote: v.Remote})
	case o.restore:
		return f.rewind(ctx, o)
	}
	// The files stay as they are. The fork's place is the present one of the working tree, where it goes on.
	place, err := snapshot.Here(ctx, f.fork.View.Repo)
	if err != nil {
		return err
	}
	if err := f.fork.Create(ctx, place); err != nil {
		return err
	}
	if o.activate {
		if err := agent.GoOnIn(f.fork); err != nil {
			return err
		}
	}
	return f.report(o, fork.ForkResult{})
}

type forkScreen struct {
	fork *fork.Fork
	env  *ui.Env
}

func (f *forkScreen) report(o forkOptions, r fork.ForkResult) error {
	_, tail := conversation.SplitTail(f.fork.Stream.Events())
	incomplete := tail != nil && !tail.Empty()
	if f.env.Format.Structured() {
		object := map[string]any{
			"id": f.fork.ID, "ref": repo.RefOf(f.fork.ID), "head": f.fork.Head, "incomplete": incomplete, "worktree": nil,
			"forked_from": map[string]any{"id": f.fork.View.ID, "seq": f.fork.At.Seq, "commit": f.fork.At.Commit},
		}
		if r.Worktree != "" {
			object["worktree"], object["left_out"] = r.Worktree, r.LeftOut.List()
			if len(r.Unconverted) > 0 {
				object["unconverted"] = r.Unconverted
			}
		}
		if r.Files != nil {
			object["files"] = r.Files
		}
		return ui.WriteJSON(f.env.Results(), object)
	}
	if !f.env.Quiet {
		f.explain(o, r, tail, incomplete)
	}
	_, err := fmt.Fprintln(f.env.Results(), f.fork.ID)
	return err
}

// explain describes the fork on stderr, with the commands that can follow.
func (f *forkScreen) explain(o forkOptions, r fork.ForkResult, tail *conversation.IncompleteTurn, incomplete bool) {
	out := f.env.Messages()
	if f.fork.Shares {
		fmt.Fprintf(out, "Forked %s at @%d (turn %d, %s).\n", f.fork.View.Name(), f.fork.At.Seq, f.fork.At.Turn, conversation.Shorten(ui.EventWords(f.fork.At), 40))
	} else {
		fmt.Fprintf(out, "Copied %s of %s, from @%d to @%d.\n", conversation.Count(len(f.fork.Kept), "event"), f.fork.View.Name(), f.fork.First.Seq, f.fork.At.Seq)
	}
	standing := f.fork.Standing(f.fork.Stream.Events(), f.fork.ID)
	local := standing == conversation.StandingOwn
	switch {
	case !local:
		words := "It " + f.fork.View.Repo.Standings().StandingWords(standing, f.fork.View.Repo.Standings().Elsewhere(f.fork.Stream.Events()))
		if standing == conversation.StandingForeign {
			words = "Someone else wrote it"
		}
		fmt.Fprintf(out, "%s: it can be read. %s makes a fork that is yours.\n", words, action.AdoptOnly(f.fork.ID.Short()))
	case o.adopt && !f.fork.Adopts:
		fmt.Fprintln(out, "It was yours already; there was nothing to adopt.")
	}
	if r.Worktree != "" {
		dir := o.worktree
		if f.env.Elsewhere() {
			dir = r.Worktree
		}
		on := ", where jp goes on with it"
		if !local {
			on = ""
		}
		fmt.Fprintf(out, "Its files are in %s%s.   %s\n", safetext.Show(r.Worktree), on, action.ChangeDir(dir))
		if !r.LeftOut.None() {
			fmt.Fprintf(out, "Changed, but in no snapshot, so not there as they were then: %s.\n", r.LeftOut.Words(20, true))
		}
		if o.backups {
			n := 0
			for _, file := range r.Files {
				if file.Done {
					n++
				}
			}
			fmt.Fprintf(out, "Of your own files that no snapshot has, %s came along.\n", conversation.Count(n, "file"))
			for _, file := range r.Files {
				if !file.Done {
					fmt.Fprintf(out, "  %s  %s\n", repo.ShownPath(file.Path), safetext.Clean(file.Reason))
				}
			}
		}
		fork.TellUnconverted(out, dir, r.Unconverted)
		if r.Sparse > 0 {
			fmt.Fprintf(out, "The sparse checkout leaves %s out there.   %s   writes all files\n", conversation.Count(r.Sparse, "file"), action.WholeCheckout(dir))
		}
	}
	if o.activate && r.Files == nil && f.fork.View.Remote == "" && f.fork.Behind() {
		fmt.Fprintf(out, "Your files stay as they are. %s   brings back those of then\n", action.RestoreEvent(f.fork.View.ID.Short(), problem.Itoa(f.fork.At.Seq)))
	}
	if !incomplete || !local || o.activate && f.env.Get(ui.ChatVariable) != "" { // the chat says so
		return
	}
	line := fmt.Sprintf("Turn %d is incomplete there", tail.Number)
	if n := len(tail.Ledger().Open()); n > 0 {
		line += ": " + conversation.Count(n, "call") + " open"
	}
	fmt.Fprintf(out, "%s.   %s   goes on with it\n", line, action.Continue(f.fork.ID.Short()))
}

// rewind goes back in place, once the user has agreed.
func (f *forkScreen) rewind(ctx context.Context, o forkOptions) error {
	w, err := agent.NewRewind(ctx, f.fork, o.word, o.yes)
	if err != nil {
		return err
	}
	defer w.Close()
	files, result := f.env.PutBackScreen(w.Files), w.Result
	if len(result.Puts) > 0 && !o.yes {
		w.Close() // no lock while the user decides
		if err := confirmRewind(ctx, files, result); err != nil {
			return err
		}
		if same, err := w.Again(ctx); err != nil {
			return err
		} else if !same {
			w.Close()
			f.env.Note("The conversation has changed since jp asked.")
			return runFork(ctx, f.env, o)
		}
	}
	if err := w.Do(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if !f.env.Format.Structured() && !f.env.Quiet {
		if len(result.Puts) > 0 || len(result.Left()) > 0 {
			files.List(f.env.Messages(), files.Palette, result, false)
		} else if err := files.PrintNothing(f.env.Messages()); err != nil {
			return err
		}
	}
	if err := f.report(forkOptions{}, fork.ForkResult{Files: result.Files}); err != nil || !result.Failed {
		return err
	}
	return &problem.Error{Exit: problem.ExitFailed, Silent: true}
}

func confirmRewind(ctx context.Context, b *ui.PutBackScreen, r *undo.Result) error {
	files := conversation.Count(len(r.Puts), "file")
	at := fmt.Sprintf("%s@%d", b.Undo.View.ID.Short(), b.Undo.AsOf)
	return b.Env.Confirm(ctx, ui.Confirmation{
		ID: b.Undo.View.ID, Question: "Go back, and " + ui.PutQuestion(r, "put", "delete"),
		List: func(w io.Writer, p terminal.Palette) { b.List(w, p, r, true) },
		Unasked: problem.New(problem.ExitDecision, "usage", "going back changes %s, and there is no terminal to ask.", files).About(b.Undo.View.ID).
			Hint(action.ForkAndRestore(at), "do it").Hint(action.ListRestore(at), "list the files"),
	})
}
