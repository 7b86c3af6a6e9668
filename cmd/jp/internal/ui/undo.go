package ui

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/undo"
)

// commitID is the name of a commit, which a shell takes as one word.
var commitID = lazy.Regexp(`^[0-9a-f]{7,64}$`)

func Flags(o *undo.Options, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only list what would be done")
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do it without asking")
}

// A PutBackScreen is an undo or a restore at the terminal.
type PutBackScreen struct {
	Undo    *undo.Undo
	Env     *Env
	Palette terminal.Palette
}

func (e *Env) PutBackScreen(b *undo.Undo) *PutBackScreen {
	return &PutBackScreen{Undo: b, Env: e, Palette: e.Palette(e.Stdout)}
}

// Run lists the changes, asks, and makes them.
func (b *PutBackScreen) Run(ctx context.Context) error {
	_, result, err := b.Undo.Propose(ctx)
	if err != nil {
		return err
	}
	if b.Undo.Opts.DryRun || len(result.Puts) == 0 {
		return b.report(ctx, result, false)
	}
	asked := false
	for agreed := b.Undo.Opts.Yes; !agreed; asked = true { // no lock while the user decides
		b.Undo.Close()
		if err := b.confirm(ctx, result); err != nil {
			return err
		}
		if result, agreed, err = b.Undo.Again(ctx, result); err != nil {
			return err
		}
		if !agreed {
			b.Env.Note("The conversation has changed since jp asked.")
		}
		if len(result.Puts) == 0 {
			return b.report(ctx, result, false)
		}
	}
	if err := b.Undo.Do(ctx, result, b.Undo.Record); err != nil {
		return err
	}
	return b.report(ctx, result, asked)
}

// PrintNothing explains why jp puts nothing back: it leaves the work of others.
func (b *PutBackScreen) PrintNothing(out io.Writer) error {
	if b.Undo.Differing == 0 {
		_, err := fmt.Fprintf(out, "Nothing to %s: the files are as %s.\n", b.Undo.Opts.Action, b.Undo.When)
		return err
	}
	verb := "are"
	if b.Undo.Differing == 1 {
		verb = "is"
	}
	since := ""
	if b.Undo.Adoption > 0 {
		since = fmt.Sprintf(" @%d, the event of the adoption", b.Undo.Adoption)
	}
	words := fmt.Sprintf("Nothing to %s: %s %s not as %s, and no tool of this conversation wrote there since%s.\n",
		b.Undo.Opts.Action, conversation.Count(b.Undo.Differing, "file"), verb, b.Undo.When, since)
	if IsTerminal(b.Env.Stdout) {
		words = terminal.Wrap(words, b.Env.Columns(b.Env.Stdout))
	}
	_, err := io.WriteString(out, words)
	if !b.Env.Quiet {
		fmt.Fprintf(b.Env.Messages(), "%s\n", b.Palette.Dim(action.DiffWorktree(b.Undo.View.ID.Short(), problem.Itoa(b.Undo.Since-1)).String()+"   lists them"))
	}
	return err
}

func (b *PutBackScreen) confirm(ctx context.Context, r *undo.Result) error {
	files := conversation.Count(len(r.Puts), "file")
	return b.Env.Confirm(ctx, Confirmation{
		ID: b.Undo.View.ID, Question: PutQuestion(r, "Put", "Delete"),
		List: func(w io.Writer, p terminal.Palette) { b.List(w, p, r, true) },
		Unasked: problem.New(problem.ExitDecision, "usage", "jp %s changes %s, and there is no terminal to ask.", b.Undo.Opts.Action, files).About(b.Undo.View.ID).
			Hint(b.again(action.Undo, action.Restore), "do it").Hint(b.again(action.ListUndo, action.ListRestored), "list what it would do"),
	})
}

// again is the command's own action, undo or restore, for the same files.
func (b *PutBackScreen) again(undo, restore func(...string) action.Action) action.Action {
	var words []string
	if b.Undo.Opts.Word != "" {
		words = append(words, b.Undo.Opts.Word)
	}
	words = append(words, b.Undo.View.Repo.FromHere(b.Env.Host, b.Undo.Opts.Paths)...)
	if b.Undo.Opts.Action == "undo" {
		return undo(words...)
	}
	return restore(words...)
}

func gone(r *undo.Result) (n int) {
	for _, put := range r.Puts {
		if undo.StatusOf(put) == "D" {
			n++
		}
	}
	return n
}

// PutQuestion asks about all files of an undo: those that it puts back, and those that it deletes.
func PutQuestion(r *undo.Result, put, remove string) string {
	n := gone(r)
	back := put + " " + conversation.Count(len(r.Puts)-n, "file") + " back"
	switch n {
	case 0:
		return back + "?"
	case len(r.Puts):
		return remove + " " + conversation.Count(n, "file") + "?"
	}
	return fmt.Sprintf("%s, and delete %d?", back, n)
}

// sum counts the files that are put back or deleted, planned or done.
func (b *PutBackScreen) sum(r *undo.Result, would bool) string {
	verb := map[bool]string{true: "Would put back", false: "Put back"}[would]
	if gone(r) == len(r.Puts) {
		verb = map[bool]string{true: "Would delete", false: "Deleted"}[would]
	}
	return fmt.Sprintf("%s %s as %s", verb, conversation.Count(len(r.Puts), "file"), b.Undo.When)
}

// List writes which files are put back, or would be, and which are left alone and why.
func (b *PutBackScreen) List(w io.Writer, p terminal.Palette, r *undo.Result, would bool) {
	if len(r.Puts) > 0 {
		fmt.Fprintln(w, b.sum(r, would)+":")
	}
	for _, put := range r.Puts {
		status, colour := undo.StatusOf(put), p.Yellow
		switch status {
		case "D":
			colour = p.Red
		case "A":
			colour = p.Green
		}
		note := ""
		if r.Notes[put.Path] != "" {
			note = "  " + p.Dim(r.Notes[put.Path])
		}
		fmt.Fprintf(w, "  %s %s%s\n", colour(status), safetext.Show(put.Path), note)
	}
	b.listLeft(w, p, r)
}

// At is a path that the user named, from the folder in which jp works.
func (e *Env) At(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

// PrintCopied lists the files of a backup that are in a folder now.
func (e *Env) PrintCopied(r *undo.Result, folder string) error {
	if e.Format.Structured() {
		return WriteJSON(e.Results(), r)
	}
	w, b := e.Results(), e.PutBackScreen(nil)
	fmt.Fprintf(w, "Wrote %s to %s, as before @%d of %s.\n", conversation.Count(len(r.Puts), "file"), safetext.Show(folder), r.AsOf, r.Conversation)
	b.listLeft(w, b.Palette, r)
	return nil
}

func (b *PutBackScreen) listLeft(w io.Writer, p terminal.Palette, r *undo.Result) {
	if len(r.Left()) == 0 {
		return
	}
	fmt.Fprintln(w, "Left alone:")
	width := 0
	for _, f := range r.Left() {
		width = max(width, safetext.Columns(repo.ShownPath(f.Path)))
	}
	for _, f := range r.Left() {
		name := repo.ShownPath(f.Path)
		gap := strings.Repeat(" ", width-safetext.Columns(name))
		fmt.Fprintf(w, "  %s%s  %s\n", name, gap, p.Dim(safetext.Clean(f.Reason)))
	}
}

// report writes the result. A user who was asked has seen the list already.
func (b *PutBackScreen) report(ctx context.Context, r *undo.Result, asked bool) error {
	if err := b.print(ctx, r, asked); err != nil {
		return err
	}
	for _, e := range b.Undo.View.Events {
		made, ok := e.Body.(*conversation.ToolCallResponse)
		if !ok || e.Seq < b.Undo.Since || made.Name != "git_commit" {
			continue
		}
		rest, ok := strings.CutPrefix(made.Content, "Committed ")
		if id, _, _ := strings.Cut(rest, " "); ok && commitID().MatchString(id) { // a shell may run the line below
			b.Env.Note("The commit %s stays.", id)
			b.Env.Note("    git revert %s   takes it back", id)
		}
	}
	if len(r.Unstaged) > 0 {
		b.Env.Note("No longer staged: %s.", named(r.Unstaged))
	}
	if len(r.Staged) > 0 {
		b.Env.Note("Still staged, since it may be yours: %s.", named(r.Staged))
		b.Env.Note("    git diff --cached   shows it")
	}
	if restore, files := b.Undo.RestoreNamed(r); len(files) > 0 {
		b.Env.Note("Of unknown author, and so perhaps your own work: %s.", named(files))
		b.Env.Note("    %s   puts back %s", restore, conversation.Count(len(files), "file"))
	}
	if r.Stopped != nil {
		return b.stopped(r)
	}
	if r.Failed {
		return &problem.Error{Exit: problem.ExitFailed, Silent: true}
	}
	for _, f := range r.Left() {
		path, err := conversation.UnquotePath(f.Path)
		if err == nil && slices.Contains(b.Undo.Opts.Paths, path) {
			return &problem.Error{Exit: problem.ExitFailed, Silent: true}
		}
	}
	return nil
}

// mostStaged is how many files of git's index are named.
const mostStaged = 5

func named(paths []string) string {
	var names []string
	for _, path := range paths[:min(len(paths), mostStaged)] {
		names = append(names, safetext.Show(path))
	}
	if more := len(paths) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// stopped reports the progress, and exits as at that signal elsewhere.
func (b *PutBackScreen) stopped(r *undo.Result) error {
	rest := r.NotReached()
	f := repo.ProblemOf(r.Stopped)
	f.Message = fmt.Sprintf("%s: %d of %s put back.", f.Message, len(r.Puts), conversation.Count(len(r.Puts)+rest, "file"))
	return f.About(b.Undo.View.ID).Hint(b.again(action.Undo, action.Restore), "goes on")
}

func (b *PutBackScreen) print(ctx context.Context, r *undo.Result, asked bool) error {
	if b.Env.Format.Structured() {
		return WriteJSON(b.Env.Results(), r)
	}
	out, p := b.Env.Results(), b.Palette
	switch {
	case len(r.Puts) == 0 && len(r.Left()) == 0:
		return b.PrintNothing(out)
	case len(r.Puts) == 0:
		fmt.Fprintln(out, "Nothing was put back.")
		b.listLeft(out, p, r)
		return nil
	case b.Undo.Opts.DryRun:
		b.List(out, p, r, true)
		return nil
	case asked:
		fmt.Fprintln(out, b.sum(r, false)+".")
		if r.Late {
			b.listLeft(out, p, r)
		}
	default:
		b.List(out, p, r, false)
	}
	if !b.Env.Quiet && b.Undo.TakenBack(ctx, r) {
		back := action.UndoEvent(problem.Itoa(*r.Event))
		if id, _, named := strings.Cut(b.Undo.Opts.Word, "@"); named && id != "" { // perhaps not the session's
			back = action.UndoEventOf(b.Undo.View.ID.Short(), problem.Itoa(*r.Event))
		}
		fmt.Fprintf(b.Env.Messages(), "%s\n", p.Dim(back.String()+" takes this back"))
	}
	return nil
}
