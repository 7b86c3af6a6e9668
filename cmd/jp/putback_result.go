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

	puts   []worktree.Put // in the order of Files
	late   bool           // more was left alone than was said at first
	failed bool           // some of it because it could not be written
}

// A fileResult is a [conversation.RestoredFile] for programs.
type fileResult struct {
	Path   string `json:"path"`
	Done   bool   `json:"done"`
	Reason string `json:"reason"`
}

// dryRun is the reason that files have which would be put back.
const dryRun = "dry run"

func (b *putBack) result(plan []takeback.File) *putBackResult {
	r := &putBackResult{
		Action: b.opts.action, Conversation: b.id, AsOf: b.asOf, DryRun: b.opts.dryRun,
		Files: []fileResult{}, puts: puts(plan),
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
	again := puts(plan)
	for _, p := range slices.Clone(r.puts) {
		if !slices.Contains(again, p) {
			r.leave(p.Path, "somebody changed it just now")
		}
	}
	return slices.Clone(r.puts)
}

// leave says that a file was not put back after all.
func (r *putBackResult) leave(path, why string) {
	r.puts = slices.DeleteFunc(r.puts, func(p worktree.Put) bool { return p.Path == path })
	at := slices.IndexFunc(r.Files, func(f fileResult) bool { return f.Path == conversation.QuotePath(path) })
	if at < 0 {
		return
	}
	r.Files = append(slices.Delete(r.Files, at, at+1), fileResult{Path: conversation.QuotePath(path), Reason: why})
	r.late = true
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
	again := strings.TrimSpace(strings.Join(append([]string{"jp", b.opts.action, "-y", b.opts.word}, b.opts.paths...), " "))
	return true, b.env.confirm(ctx, confirmation{
		id: b.id, question: "Put " + files + " back?",
		list: func(w io.Writer, p terminal.Palette) { b.list(w, p, r, "Would put back") },
		unasked: fail(exitDecision, "usage", "jp %s changes %s, and there is no terminal to ask.", b.opts.action, files).about(b.id).
			hint(again, "do it").hint(strings.Replace(again, " -y", " --dry-run", 1), "list what it would do"),
	})
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
		fmt.Fprintf(w, "  %s %s\n", colour(status), terminal.Show(put.Path))
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
		width = max(width, terminal.Columns(terminal.Show(f.Path)))
	}
	for _, f := range r.left() {
		name := terminal.Show(f.Path)
		gap := strings.Repeat(" ", width-terminal.Columns(name))
		fmt.Fprintf(w, "  %s%s  %s\n", name, gap, p.Dim(terminal.Clean(f.Reason)))
	}
}

// report writes the result. Who was asked has seen the list already.
func (b *putBack) report(r *putBackResult, asked bool) error {
	if err := b.print(r, asked); err != nil {
		return err
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

func (b *putBack) print(r *putBackResult, asked bool) error {
	if b.env.format.structured() {
		return writeJSON(b.env.results(), r)
	}
	out, p := b.env.results(), b.palette
	switch {
	case len(r.puts) == 0 && len(r.left()) == 0:
		_, err := fmt.Fprintf(out, "Nothing to %s: the files are as %s.\n", b.opts.action, b.when)
		return err
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
