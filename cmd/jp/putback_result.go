package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"jp/cmd/jp/internal/takeback"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/worktree"
)

// A putBackResult is what an undo or a restore does, or did, with each file.
type putBackResult struct {
	Action       string          `json:"action"`
	Conversation conversation.ID `json:"conversation"`
	AsOf         int             `json:"as_of"`
	Event        *int            `json:"event"`
	DryRun       bool            `json:"dry_run"`
	Files        []fileResult    `json:"files"` // those put back first

	puts   []worktree.Put    // in the order of Files
	notes  map[string]string // by path of puts: what it becomes, if not what it was before all
	late   bool              // more was left alone than was said at first
	failed bool              // some of it because it could not be written

	stopped error // the signal at which the rest was left, nil where none was
}

// A fileResult is a [conversation.RestoredFile] for programs.
type fileResult struct {
	Path   string `json:"path"`
	Done   bool   `json:"done"`
	Reason string `json:"reason"`
}

// printNothing says why nothing is to be put back: of what somebody else wrote nothing is.
func (b *putBack) printNothing(out io.Writer) error {
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

// dryRun is the reason that files have which would be put back.
const dryRun = "dry run"

func (b *putBack) result(plan []takeback.File) *putBackResult {
	r := &putBackResult{
		Action: b.opts.action, Conversation: b.id, AsOf: b.asOf, DryRun: b.opts.dryRun,
		Files: []fileResult{}, puts: puts(plan), notes: map[string]string{},
	}
	for _, f := range plan {
		r.notes[f.Path] = f.Note
	}
	for _, p := range r.puts {
		f := fileResult{Path: conversation.QuotePath(p.Path), Done: !b.opts.dryRun}
		if b.opts.dryRun {
			f.Reason = dryRun
		}
		r.Files = append(r.Files, f)
	}
	for _, f := range plan {
		if f.Why != "" {
			r.Files = append(r.Files, fileResult{Path: conversation.QuotePath(f.Path), Reason: f.Why})
		}
	}
	return r
}

func (r *putBackResult) paths() []string {
	var paths []string
	for _, p := range r.puts {
		paths = append(paths, p.Path)
	}
	return paths
}

// restored is the record of it, for a conversation in which the event whose files
// they are has the number asOf.
func (r *putBackResult) restored(asOf int) *conversation.Restored {
	done := &conversation.Restored{AsOf: asOf}
	for _, f := range r.Files[:listed(r.Files, func(f fileResult) string { return f.Path + f.Reason })] {
		done.Files = append(done.Files, conversation.RestoredFile(f))
	}
	return done
}

// confirmed are the files that a second plan wants as the first did; the others
// are left alone.
func (r *putBackResult) confirmed(plan []takeback.File) []worktree.Put {
	again := map[worktree.Put]bool{}
	for _, p := range puts(plan) {
		again[p] = true
	}
	var changed []worktree.LeftOut
	for _, p := range r.puts {
		if !again[p] {
			changed = append(changed, worktree.LeftOut{Path: p.Path, Why: "somebody changed it just now"})
		}
	}
	r.leave(changed)
	return slices.Clone(r.puts)
}

// leave says that files were not put back after all.
func (r *putBackResult) leave(left []worktree.LeftOut) {
	var moved []fileResult
	gone, quoted := map[string]bool{}, map[string]bool{}
	for _, l := range left {
		f := fileResult{Path: conversation.QuotePath(l.Path), Reason: l.Why}
		moved = append(moved, f)
		gone[l.Path], quoted[f.Path] = true, true
		r.failed = r.failed || l.Failed
	}
	r.puts = slices.DeleteFunc(r.puts, func(p worktree.Put) bool { return gone[p.Path] })
	r.Files = append(slices.DeleteFunc(r.Files, func(f fileResult) bool { return quoted[f.Path] }), moved...)
	r.late = r.late || len(left) > 0
}

// left are the files that are left alone.
func (r *putBackResult) left() []fileResult {
	return r.Files[len(r.puts):]
}

// confirm asks on the terminal. asked is false where the answer was given in
// advance.
func (b *putBack) confirm(ctx context.Context, r *putBackResult) (asked bool, err error) {
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
func (b *putBack) again() string {
	words := []string{"jp", b.opts.action, "-y"}
	if b.opts.word != "" {
		words = append(words, b.opts.word)
	}
	return safetext.EscapeAll(append(words, b.repo.fromHere(b.env, b.opts.paths)...))
}

// list writes which files are put back, and which are left alone and why.
func (b *putBack) list(w io.Writer, p terminal.Palette, r *putBackResult, verb string) {
	if len(r.puts) > 0 {
		fmt.Fprintf(w, "%s %s as %s:\n", verb, conversation.Count(len(r.puts), "file"), b.when)
	}
	for _, put := range r.puts {
		status, colour := "M", p.Yellow
		switch {
		case put.To == (worktree.Version{}):
			status, colour = "D", p.Red
		case put.Is == (worktree.Version{}):
			status, colour = "A", p.Green
		}
		note := ""
		if r.notes[put.Path] != "" {
			note = "  " + p.Dim(r.notes[put.Path])
		}
		fmt.Fprintf(w, "  %s %s%s\n", colour(status), safetext.Show(put.Path), note)
	}
	b.listLeft(w, p, r)
}

func (b *putBack) listLeft(w io.Writer, p terminal.Palette, r *putBackResult) {
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
func (b *putBack) report(r *putBackResult, asked bool) error {
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
func (b *putBack) stopped(r *putBackResult) error {
	rest := 0
	for _, f := range r.left() {
		if f.Reason == worktree.WhyStopped {
			rest++
		}
	}
	f := failureOf(r.stopped)
	f.message = fmt.Sprintf("%s: %d of %s put back.", f.message, len(r.puts), conversation.Count(len(r.puts)+rest, "file"))
	return f.about(b.id).hint(b.again(), "goes on")
}

func (b *putBack) print(r *putBackResult, asked bool) error {
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
