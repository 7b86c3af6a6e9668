package main

import (
	"slices"

	"jp/conversation"
	"jp/undo/undoplan"
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

// dryRun is the reason that files have which would be put back.
const dryRun = "dry run"

func (b *putBack) result(plan []undoplan.File) *putBackResult {
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
func (r *putBackResult) confirmed(plan []undoplan.File) []worktree.Put {
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

// statusOf is what becomes of a file, in git's letters: A, M or D.
func statusOf(put worktree.Put) string {
	switch {
	case put.To == (worktree.Version{}):
		return "D"
	case put.Is == (worktree.Version{}):
		return "A"
	}
	return "M"
}

// notReached is how many files a signal left as they were.
func (r *putBackResult) notReached() (n int) {
	for _, f := range r.left() {
		n += count(f.Reason == worktree.WhyStopped)
	}
	return n
}
