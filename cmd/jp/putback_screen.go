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
)

func (o *putBackOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only list what would be done")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do it without asking")
}

// A putBackScreen is an undo or a restore at the terminal.
type putBackScreen struct {
	*putBack
	env     *env
	palette terminal.Palette
}

func (e *env) putBackScreen(b *putBack) *putBackScreen {
	return &putBackScreen{putBack: b, env: e, palette: e.palette(e.stdout)}
}

// run lists what would be done, asks, and does it.
func (b *putBackScreen) run(ctx context.Context) error {
	_, result, err := b.propose(ctx)
	if err != nil {
		return err
	}
	if b.opts.dryRun || len(result.puts) == 0 {
		return b.report(result, false)
	}
	asked, err := b.confirm(ctx, result)
	if err != nil {
		return err
	}
	if err := b.do(ctx, result, b.record); err != nil {
		return err
	}
	return b.report(result, asked)
}

// printNothing says why nothing is to be put back: of what somebody else wrote nothing is.
func (b *putBackScreen) printNothing(out io.Writer) error {
	if b.differing == 0 {
		_, err := fmt.Fprintf(out, "Nothing to %s: the files are as %s.\n", b.opts.action, b.when)
		return err
	}
	verb := "are"
	if b.differing == 1 {
		verb = "is"
	}
	_, err := fmt.Fprintf(out, "Nothing to %s: %s %s not as %s, and no tool of this conversation wrote there since.\n",
		b.opts.action, conversation.Count(b.differing, "file"), verb, b.when)
	if !b.env.quiet {
		fmt.Fprintf(b.env.stderr, "%s\n", b.palette.Dim(fmt.Sprintf("jp diff %s@%d --worktree --stat   lists them", b.id.Short(), b.since-1)))
	}
	return err
}

// confirm asks on the terminal. asked is false where the answer was given in
// advance.
func (b *putBackScreen) confirm(ctx context.Context, r *putBackResult) (asked bool, err error) {
	if b.opts.yes {
		return false, nil
	}
	files := conversation.Count(len(r.puts), "file")
	again := b.again()
	return true, b.env.confirm(ctx, confirmation{
		id: b.id, question: "Put " + files + " back?",
		list: func(w io.Writer, p terminal.Palette) { b.list(w, p, r, "Would put back") },
		unasked: fail(exitDecision, "usage", "jp %s changes %s, and there is no terminal to ask.", b.opts.action, files).about(b.id).
			hint(again, "do it").hint(strings.Replace(again, " -y", " --dry-run", 1), "list what it would do"),
	})
}

// again is the command that does it without asking.
func (b *putBackScreen) again() string {
	words := []string{"jp", b.opts.action, "-y"}
	if b.opts.word != "" {
		words = append(words, b.opts.word)
	}
	return safetext.EscapeAll(append(words, b.repo.fromHere(b.env.host, b.opts.paths)...))
}

// list writes which files are put back, and which are left alone and why.
func (b *putBackScreen) list(w io.Writer, p terminal.Palette, r *putBackResult, verb string) {
	if len(r.puts) > 0 {
		fmt.Fprintf(w, "%s %s as %s:\n", verb, conversation.Count(len(r.puts), "file"), b.when)
	}
	for _, put := range r.puts {
		status, colour := statusOf(put), p.Yellow
		switch status {
		case "D":
			colour = p.Red
		case "A":
			colour = p.Green
		}
		note := ""
		if r.notes[put.Path] != "" {
			note = "  " + p.Dim(r.notes[put.Path])
		}
		fmt.Fprintf(w, "  %s %s%s\n", colour(status), safetext.Show(put.Path), note)
	}
	b.listLeft(w, p, r)
}

func (b *putBackScreen) listLeft(w io.Writer, p terminal.Palette, r *putBackResult) {
	if len(r.left()) == 0 {
		return
	}
	fmt.Fprintln(w, "Left alone:")
	width := 0
	for _, f := range r.left() {
		width = max(width, safetext.Columns(shownPath(f.Path)))
	}
	for _, f := range r.left() {
		name := shownPath(f.Path)
		gap := strings.Repeat(" ", width-safetext.Columns(name))
		fmt.Fprintf(w, "  %s%s  %s\n", name, gap, p.Dim(safetext.Clean(f.Reason)))
	}
}

// report writes the result. Who was asked has seen the list already.
func (b *putBackScreen) report(r *putBackResult, asked bool) error {
	if err := b.print(r, asked); err != nil {
		return err
	}
	if r.stopped != nil {
		return b.stopped(r)
	}
	if r.failed {
		return &failure{exit: exitFailed, silent: true}
	}
	for _, f := range r.left() {
		path, err := conversation.UnquotePath(f.Path)
		if err == nil && slices.Contains(b.opts.paths, path) {
			return &failure{exit: exitFailed, silent: true}
		}
	}
	return nil
}

// stopped says how far it came, and exits as at that signal elsewhere.
func (b *putBackScreen) stopped(r *putBackResult) error {
	rest := r.notReached()
	f := failureOf(r.stopped)
	f.message = fmt.Sprintf("%s: %d of %s put back.", f.message, len(r.puts), conversation.Count(len(r.puts)+rest, "file"))
	return f.about(b.id).hint(b.again(), "goes on")
}

func (b *putBackScreen) print(r *putBackResult, asked bool) error {
	if b.env.format.structured() {
		return writeJSON(b.env.results(), r)
	}
	out, p := b.env.results(), b.palette
	switch {
	case len(r.puts) == 0 && len(r.left()) == 0:
		return b.printNothing(out)
	case len(r.puts) == 0:
		fmt.Fprintln(out, "Nothing was put back.")
		b.listLeft(out, p, r)
		return nil
	case b.opts.dryRun:
		b.list(out, p, r, "Would put back")
		return nil
	case asked:
		fmt.Fprintf(out, "Put back %s as %s.\n", conversation.Count(len(r.puts), "file"), b.when)
		if r.late {
			b.listLeft(out, p, r)
		}
	default:
		b.list(out, p, r, "Put back")
	}
	if !b.env.quiet {
		fmt.Fprintf(b.env.stderr, "%s\n", p.Dim(fmt.Sprintf("jp undo @%d takes this back", *r.Event)))
	}
	return nil
}
