package undo

import (
	"fmt"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
	"jp/worktree"
)

// A Result is the effect of an undo or a restore on each file, planned or done.
type Result struct {
	Action       string            `json:"action"`
	Conversation conversation.ID   `json:"conversation"`
	AsOf         int               `json:"as_of"`
	Event        *int              `json:"event"`
	DryRun       bool              `json:"dry_run"`
	Files        []repo.FileResult `json:"files"` // those put back first

	Puts   []worktree.WriteOp `json:"-"` // in the order of Files
	Notes  map[string]string  `json:"-"` // by path of puts: the meaning of its new content, if it differs from its first one
	were   map[string]was     // the files that are taken away or replaced, by quoted path
	Late   bool               `json:"-"` // more was left alone than was said at first
	Failed bool               `json:"-"` // some of them because the write failed

	Unstaged []string `json:"-"` // files whose entry in git's index has changed
	Staged   []string `json:"-"` // files of which it still has something else

	Stopped error `json:"-"` // the signal that ended the work early; optional
}

// was is the part of a file that git does not keep: its size, which tells its line ends, and these if they
// differ.
type was struct {
	size int64
	ends string
}

// dryRun is the reason that files have which would be put back.
const dryRun = "dry run"

func (b *Undo) result(plan []plannedFile) *Result {
	r := &Result{
		Action: b.Opts.Action, Conversation: b.View.ID, AsOf: b.AsOf, DryRun: b.Opts.DryRun,
		Files: []repo.FileResult{}, Puts: b.puts(plan), Notes: map[string]string{},
	}
	for _, f := range plan {
		r.Notes[f.Path] = f.Note
	}
	for _, p := range r.Puts {
		f := repo.FileResult{Path: conversation.QuotePath(p.Path), Done: !b.Opts.DryRun}
		if b.Opts.DryRun {
			f.Reason = dryRun
		}
		r.Files = append(r.Files, f)
	}
	for _, f := range plan {
		if f.Why != "" {
			r.Files = append(r.Files, repo.FileResult{Path: conversation.QuotePath(f.Path), Reason: f.Why})
		}
	}
	return r
}

func (r *Result) Paths() []string {
	var paths []string
	for _, p := range r.Puts {
		paths = append(paths, p.Path)
	}
	return paths
}

// Restored is the record of it, for a conversation in which the event whose files
// they are has the number asOf.
func (r *Result) Restored(asOf int) *conversation.Restored {
	done := &conversation.Restored{AsOf: asOf}
	for _, f := range r.Files[:conversation.ListableCount(r.Files, func(f repo.FileResult) string { return f.Path + f.Reason })] {
		restored := conversation.RestoredFile{Path: f.Path, Done: f.Done, Reason: f.Reason}
		if f.Done {
			restored.Size, restored.Ends = r.were[f.Path].size, r.were[f.Path].ends
		}
		done.Files = append(done.Files, restored)
	}
	return done
}

// confirmed are the files that a second plan wants as the first did; the others
// are left alone.
func (r *Result) confirmed(planned []worktree.WriteOp) []worktree.WriteOp {
	again := map[worktree.WriteOp]bool{}
	for _, p := range planned {
		again[p] = true
	}
	var changed []worktree.Skipped
	for _, p := range r.Puts {
		if !again[p] {
			changed = append(changed, worktree.Skipped{Path: p.Path, Why: "others changed it just now"})
		}
	}
	r.leave(changed)
	return slices.Clone(r.Puts)
}

// leave marks files as not put back after all.
func (r *Result) leave(left []worktree.Skipped) {
	var moved []repo.FileResult
	gone, quoted := map[string]bool{}, map[string]bool{}
	for _, l := range left {
		f := repo.FileResult{Path: conversation.QuotePath(l.Path), Reason: l.Why}
		moved = append(moved, f)
		gone[l.Path], quoted[f.Path] = true, true
		r.Failed = r.Failed || l.Failed
	}
	r.Puts = slices.DeleteFunc(r.Puts, func(p worktree.WriteOp) bool { return gone[p.Path] })
	r.Files = append(slices.DeleteFunc(r.Files, func(f repo.FileResult) bool { return quoted[f.Path] }), moved...)
	r.Late = r.Late || len(left) > 0
}

// RestoreNamed is the command that puts back the files whose author is unknown, if there are any.
func (b *Undo) RestoreNamed(r *Result) (restore action.Action, files []string) {
	for _, f := range r.Left() {
		path, err := conversation.UnquotePath(f.Path)
		if err == nil && strings.HasSuffix(f.Reason, byName) {
			files = append(files, path)
		}
	}
	event := fmt.Sprintf("@%d", b.AsOf)
	if id, _, _ := strings.Cut(b.Opts.Word, "@"); id != "" { // perhaps of another session
		event = b.View.ID.Short() + event
	}
	return action.Restore(append([]string{event}, b.View.Repo.FromHere(b.View.Repo.Env, files)...)...), files
}

// Left are the files that are left alone.
func (r *Result) Left() []repo.FileResult {
	return r.Files[len(r.Puts):]
}

// StatusOf is the change of a file, in git's letters: A, M or D.
func StatusOf(put worktree.WriteOp) string {
	switch {
	case put.To == (worktree.Version{}):
		return "D"
	case put.Is == (worktree.Version{}):
		return "A"
	}
	return "M"
}

// NotReached is how many files a signal left as they were.
func (r *Result) NotReached() (n int) {
	for _, f := range r.Left() {
		n += problem.Count(f.Reason == worktree.WhyStopped)
	}
	return n
}
