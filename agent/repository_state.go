package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitstore"
	"jp/reconcile"
	"jp/tool"
	"jp/turnloop"
	"jp/worktree"
)

// maxDirty is how many paths of git status a report looks at.
const maxDirty = 10_000

// truth reads what the repository says now, to be compared with a record.
func (q *query) truth(ctx context.Context, r reconcile.Record) (reconcile.Truth, error) {
	t := reconcile.Truth{Tree: r.Last.Tree, Descends: true, Now: q.env.Now(), Alive: map[int]bool{}, Delegates: q.delegates(ctx, r.Ledger)}
	for _, call := range r.Ledger.Open() {
		t.Alive[call.Event.Seq] = q.repo.Locks.ToolAlive(q.id, call.Event.Seq)
	}
	f, err := q.openFiles(ctx)
	if err != nil {
		return t, err
	}
	if f.Tree == nil {
		t.Git = r.Last.Git
		return t, nil
	}
	at := turnloop.SnapshotRequest{Tree: r.Last.Tree}
	calls, since := r.Ledger.Lost()
	at.Lost = since
	if tools, err := q.namedTools(); err == nil { // else it is said when they are needed
		for _, call := range calls {
			at.Named = append(at.Named, q.written(tools, call)...)
		}
	}
	found := make(chan error, 1)
	go func() { // both take git's time, and neither needs the other
		var err error
		t.Dirty, err = dirty(ctx, f.Tree)
		found <- err
	}()
	sight, err := f.Look(ctx, at)
	if err = errors.Join(err, <-found); err != nil {
		return t, err
	}
	t.Tree, t.Git = sight.Tree, sight.Git
	q.leftOut = sight.LeftOut
	t.Submodules = f.Tree.Submodules()
	if t.Descends, err = q.descends(ctx, r.Last.Git.Head, t.Git.Head); err != nil {
		return t, err
	}
	if t.Untracked, err = q.untracked(ctx, t.Tree); err != nil {
		return t, err
	}
	return t, q.compare(ctx, r, &t)
}

// compare finds what moved while the turn stood still, and since each call that is lost
// was started.
func (q *query) compare(ctx context.Context, r reconcile.Record, t *reconcile.Truth) error {
	for _, s := range r.Ends(reconcile.Point{Tree: t.Tree, Git: t.Git}) {
		changed, err := changedSince(ctx, q.files, s.From.Tree, s.To.Tree)
		if err != nil {
			return err
		}
		t.Changed = reconcile.Sum(t.Changed, changed)
	}
	t.ChangedSince = map[int][]string{}
	paths := map[string][]string{} // by the tree before: mostly it is the same one
	calls, _ := r.Ledger.Lost()
	for _, call := range calls {
		tree := call.Started.Tree
		if _, known := paths[tree]; !known {
			changed, err := changedSince(ctx, q.files, tree, t.Tree)
			if err != nil {
				return err
			}
			for _, c := range changed {
				paths[tree] = append(paths[tree], c.Path)
			}
		}
		t.ChangedSince[call.Event.Seq] = paths[tree]
	}
	return nil
}

// openFiles opens the working tree, once.
func (q *query) openFiles(ctx context.Context) (_ *snapshot.Files, err error) {
	if q.files == nil {
		if q.opts.NoPersist {
			q.files, err = snapshot.UnwatchedFiles(ctx, q.repo)
		} else {
			q.files, err = snapshot.OpenFiles(ctx, q.repo)
		}
		if err == nil {
			q.files.Notice = q.out.Noticed
			if q.repo.TopLevel != "" {
				q.files.Root, _ = os.OpenRoot(q.repo.TopLevel)
				q.files.Key, _ = gitstore.LoadKey(q.repo.KeyFile()) // without either a yes is not bound to untracked files
			}
		}
	}
	return q.files, err
}

// toolsNow are the tools as a plan has to know them.
func toolsNow(registry *tool.Registry) map[string]reconcile.Tool {
	tools := map[string]reconcile.Tool{}
	for _, def := range registry.Definitions() {
		tools[def.Name] = reconcile.Tool{Reads: def.Effect == tool.Reads, Idempotent: def.Idempotent, Exclusive: def.Exclusive, Resumes: def.Resumes}
	}
	return tools
}

// descends reports whether a commit is, or comes after, another one. One that
// is not there any more is nobody's ancestor.
func (q *query) descends(ctx context.Context, was, is string) (bool, error) {
	if was == is || was == "" {
		return true, nil
	}
	if is == "" {
		return false, nil
	}
	_, err := q.repo.Git.Run(ctx, "merge-base", "--is-ancestor", was, is)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return err == nil, nil
}

func changedSince(ctx context.Context, f *snapshot.Files, was, is string) ([]conversation.PathStat, error) {
	if was == is || was == "" || f.Off {
		return nil, nil
	}
	changes, err := f.Tree.Diff(ctx, was, is)
	if err != nil {
		return nil, err
	}
	var stat []conversation.PathStat
	for _, c := range changes {
		stat = append(stat, conversation.PathStat{Path: conversation.QuotePath(c.Path), Status: c.Status, Added: c.Added, Deleted: c.Deleted})
	}
	return stat, nil
}

// dirty are the paths that git status names.
func dirty(ctx context.Context, tree *worktree.Worktree) ([]string, error) {
	status, err := tree.Status(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range status.Entries[:min(len(status.Entries), maxDirty)] {
		paths = append(paths, conversation.QuotePath(e.Path))
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil // deleted in the index, and untracked: one path
}

// namedTools are the tools of which some name files: those of jp's own, where the
// servers have not been asked for theirs.
func (q *query) namedTools() (*tool.Registry, error) {
	if q.registry != nil {
		return q.registry, nil
	}
	return q.tools()
}

// openTools finds the tools of this turn, once, with those of servers.
func (q *query) openTools(ctx context.Context) (_ *tool.Registry, err error) {
	if q.registry == nil {
		if err := q.openServers(ctx); err != nil {
			return nil, err
		}
		q.registry, err = q.tools()
	}
	return q.registry, err
}

// draftAnswer is the file among the drafts that holds text which is streaming, in case jp ends
// before it becomes an event.
func (q *query) draftAnswer() string {
	return string(q.id) + ".answer"
}

// A streamedDraft is what that file says.
type streamedDraft struct {
	Seq  int    `json:"seq"` // of the event that the text would have become
	Call int    `json:"call"`
	Text string `json:"text"`
}

// streamed reads the text that was streaming behind the newest event, "" if
// there is none.
func (q *query) streamed(events []*conversation.Event) string {
	text, err := q.repo.Own().Read(repo.DraftsFolder, q.draftAnswer())
	var d streamedDraft
	if err != nil || json.Unmarshal(text, &d) != nil || len(events) == 0 {
		return ""
	}
	turn := events[len(events)-1].Turn
	for i := len(events) - 1; i >= 0 && events[i].Turn == turn; i-- {
		switch events[i].Type() {
		case conversation.TypeChatResponse, conversation.TypeToolCallRequest, conversation.TypeToolCallResponse, conversation.TypeChatRequest:
			if events[i].Seq >= d.Seq {
				return "" // it has become an event
			}
		}
	}
	return d.Text
}

// removeDraft forgets streamed text; that there is none is as well.
func (q *query) removeDraft() error {
	return q.repo.Own().Remove(repo.DraftsFolder, q.draftAnswer())
}
