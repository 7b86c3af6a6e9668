package undo

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/internal/action"
	"jp/process"
	"jp/redact"
	"jp/turnloop"
	"jp/worktree"
)

type Options struct {
	Action string // "undo" or "restore"
	Word   string // [ID]@E
	Paths  []string
	DryRun bool
	Yes    bool
}

// An Undo is one undo or restore. It holds the conversation from the first
// look at the files to the event that records the work.
type Undo struct {
	View   *repo.View
	Opts   Options
	held   *process.Lock
	Files  *snapshot.Files
	AsOf   int                         // the event whose files they are
	Since  int                         // the first event whose changes count
	When   string                      // "before @18"
	event  *conversation.Event         // of which that is
	copies *copies                     // of files outside of trees; nil: they are left alone
	decide func(history) []plannedFile // the files that may be put back
	// Adoption is the event by which the user adopted the conversation in place, if it is behind Since:
	// earlier changes are the work of others, and stay. Else it is 0.
	Adoption int
	// Differing counts the files that differ from the target, by any author.
	Differing int
}

// New finds the conversation, takes it for this process, and reads it.
// The event is nil without a name.
func New(ctx context.Context, r *repo.Repo, o Options) (*Undo, *conversation.Event, error) {
	v, event, err := r.Find().EventNamed(ctx, r.Env, o.Word, onlyNamed) // take loads all
	if err != nil {
		return nil, nil, err
	}
	if v.Remote != "" {
		return nil, nil, repo.LookOnly(conversation.Info{ID: v.ID, Remote: v.Remote})
	}
	b := &Undo{View: v, Opts: o}
	if err := b.take(ctx, event); err != nil {
		b.Close()
		return nil, nil, err
	}
	return b, event, nil
}

// onlyNamed is the reach of a view that needs just the named event.
func onlyNamed([]*conversation.Event) bool { return true }

// Close lets go of the conversation. [Undo.Again] takes it back.
func (b *Undo) Close() { b.held.Release() }

// Again takes the conversation after the user was asked, and plans anew. same reports whether the plan is the
// agreed one.
func (b *Undo) Again(ctx context.Context, agreed *Result) (now *Result, same bool, err error) {
	head := b.View.Head
	if b.held, err = b.View.Repo.Hold(ctx, b.View.Repo.Env, b.View.ID); err != nil {
		return nil, false, err
	}
	if at, err := b.View.Repo.Store.Head(ctx, b.View.ID); err == nil && at == head {
		return agreed, true, nil // Do looks at the files
	}
	if err := b.read(ctx, b.event); err != nil {
		return nil, false, err
	}
	if _, now, err = b.Propose(ctx); err != nil {
		return nil, false, err
	}
	return now, slices.Equal(now.Puts, agreed.Puts), nil
}

// take locks the conversation, and reads it. The event is the named one, or nil.
func (b *Undo) take(ctx context.Context, event *conversation.Event) (err error) {
	if !b.Opts.DryRun {
		if b.held, err = b.View.Repo.Hold(ctx, b.View.Repo.Env, b.View.ID); err != nil {
			return err
		}
	}
	return b.read(ctx, event)
}

// read refuses a conversation that must not grow.
func (b *Undo) read(ctx context.Context, event *conversation.Event) (err error) {
	if err := b.load(ctx, event); err != nil {
		return err
	}
	switch {
	case b.View.Broken != nil:
		return b.View.Damage(nil)
	case b.View.Events[len(b.View.Events)-1].Opaque():
		return repo.Newer(b.View.ID, b.View.Events)
	}
	standings := b.View.Repo.Standings()
	if err := standings.MayAct(ctx, b.View.ID, b.View.Head, b.View.Events, "read only"); err != nil && !standings.Recorded(b.View.ID, b.View.Events) {
		return err
	}
	switch {
	case b.View.Tail != nil && open(b.View.Tail.Ledger()):
		return repo.IncompleteFailure(b.View.ID, b.View.Tail)
	}
	b.keepRecordedUntil()
	if b.Files, err = snapshot.OpenFiles(ctx, b.View.Repo); err == nil && b.Files.Off {
		err = repo.WithoutSnapshots()
	}
	if store := b.View.Repo.Standings().Backups(); err == nil && store != nil {
		b.copies, err = openCopies(store, b.View.ID)
		if err == nil && !b.View.Repo.Config.Backup.Enable && len(b.copies.calls)+len(b.copies.events) == 0 {
			b.copies = nil
		}
	}
	return err
}

// open reports whether a tool call of the turn has not ended.
func open(l *conversation.Ledger) bool {
	return len(l.Open()) > 0 || l.Undelivered() != nil || len(l.Live()) > 0
}

// Propose plans the work for the present files, if they are those of the conversation.
func (b *Undo) Propose(ctx context.Context) (turnloop.SnapshotResult, *Result, error) {
	sight, plan, err := b.plan(ctx)
	if err == nil {
		err = b.same(sight.Git)
	}
	if err != nil {
		return sight, nil, err
	}
	return sight, b.result(plan), nil
}

// plan looks at the files and decides.
func (b *Undo) plan(ctx context.Context) (turnloop.SnapshotResult, []plannedFile, error) {
	h, err := b.history(ctx)
	if err != nil {
		return turnloop.SnapshotResult{}, nil, err
	}
	newest := b.View.Events[len(b.View.Events)-1].Tree
	named := b.written(h)
	if b.copies != nil { // a named file outside of trees would get into one
		apart, err := b.judged(ctx, newest)
		if err != nil {
			return turnloop.SnapshotResult{}, nil, err
		}
		named = slices.DeleteFunc(named, func(path string) bool { _, is := slices.BinarySearch(apart, path); return is })
	}
	sight, err := b.Files.Look(ctx, turnloop.SnapshotRequest{Tree: newest, Named: named})
	if err != nil {
		return sight, nil, err
	}
	if b.Files.Off {
		return sight, nil, repo.WithoutSnapshots()
	}
	drift, err := b.View.Repo.Trees.DiffTrees(ctx, newest, sight.Tree)
	if err != nil {
		return sight, nil, err
	}
	h.Steps = append(h.Steps, step{Seq: afterAll, Moves: drift})
	h.Unknown = map[string]string{}
	for _, l := range sight.LeftOut {
		if path, err := conversation.UnquotePath(l.Path); err == nil {
			h.Unknown[path] = l.Why
		}
	}
	if b.copies != nil {
		if err := b.lookAtCopied(ctx, &h, sight.Tree); err != nil {
			return sight, nil, err
		}
	}
	plan := b.decide(h)
	if b.copies != nil {
		plan = append(plan, b.onlyModes(plan)...)
	}
	if err := b.refuse(ctx, plan); err != nil {
		return sight, nil, err
	}
	b.Differing = h.Differing(b.Since, b.Opts.Paths)
	if at := adoption(b.View.Events); at > b.Since {
		b.Adoption = at
	}
	return sight, append(plan, b.unrecorded(plan)...), nil
}

// refuse marks the files of a plan that cannot be written now.
func (b *Undo) refuse(ctx context.Context, plan []plannedFile) error {
	refused, err := b.Files.Tree.CheckRestore(ctx, b.puts(plan), b.protected())
	why := map[string]string{}
	for _, l := range refused {
		why[l.Path] = l.Why
	}
	for i, f := range plan {
		plan[i].Why = cmp.Or(f.Why, why[f.Path])
	}
	return err
}

// unrecorded are files that tools wrote or deleted without a record, and that are still there or still gone:
// their former content is unknown.
func (b *Undo) unrecorded(plan []plannedFile) (files []plannedFile) {
	known := map[string]bool{}
	for _, f := range plan {
		known[f.Path] = true
	}
	if b.copies != nil {
		files = b.withoutCopy(known)
	}
	moved := snapshot.HeadMoved(b.View.Events)
	for _, e := range b.View.Events {
		response, is := e.Body.(*conversation.ToolCallResponse)
		if !is || e.Seq < b.Since {
			continue
		}
		for _, l := range response.LeftOut {
			path, err := conversation.UnquotePath(l.Path)
			if err != nil || snapshot.StagedNoMore(l, e.Seq, moved) || known[path] || len(b.Opts.Paths) > 0 && !worktree.Under(path, b.Opts.Paths) {
				continue
			}
			_, err = os.Lstat(filepath.Join(b.View.Repo.At.TopLevel, filepath.FromSlash(path)))
			_, secret := redact.Restore(path, func(string) (string, bool) { return "", false }) // then its name is unknown
			if gone := l.Why == worktree.WhyGone; len(secret) > 0 || gone == (err != nil) || snapshot.IsRef(path) {
				known[path] = true
				why := "was not recorded: " + l.Why
				if path == snapshot.GitIndex || snapshot.IsRef(path) {
					why = l.Why
				}
				files = append(files, plannedFile{Path: path, Why: why})
			}
		}
	}
	return files
}

// written are the paths that may be restored. jp looks at each of them, even if git
// thinks them unchanged.
func (b *Undo) written(h history) []string {
	var paths []string
	for _, s := range h.Steps {
		if !s.Ours || s.Seq < b.Since {
			continue
		}
		named := slices.Clone(s.Lost)
		for _, m := range s.Moves {
			named = append(named, m.Path)
		}
		for _, path := range named {
			if len(b.Opts.Paths) == 0 || worktree.Under(path, b.Opts.Paths) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// same refuses to work on the files of another working tree than the one in which the
// conversation last worked.
func (b *Undo) same(now conversation.Git) error {
	if then := b.View.LastPlace(); then != nil && !then.SameWorktree(now) {
		return b.notHere(*then, now)
	}
	return nil
}

// notHere names the conversation's other place.
func (b *Undo) notHere(then, now conversation.Git) error {
	f := problem.New(problem.ExitDecision, "elsewhere", "%s worked in %s; these are not its files.", b.View.ID, repo.WhichWorktree(then, now)).About(b.View.ID)
	if dir := b.View.Repo.WorktreeDir(then.Worktree); dir != "" && then.Worktree != now.Worktree {
		return f.Hint(action.ChangeDir(dir), "go there")
	}
	return f.Hint(action.ForkWorktree(b.View.ID.Short()), "a new working tree with its files")
}

// Do puts the files back and records it. Another program may have written meanwhile: Do looks at the files
// again, under the lock that tools take to change them. A signal stops it between two files. It then records
// the files so far.
func (b *Undo) Do(ctx context.Context, result *Result, record putBackRecorder) error {
	release, err := b.Files.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	seen := b.Files.Tree.StatAll(result.Paths())
	sight, plan, err := b.plan(ctx)
	if err != nil {
		return err
	}
	puts := result.confirmed(b.puts(plan))
	result.were = map[string]was{}
	for i, p := range puts {
		name := filepath.Join(b.View.Repo.At.TopLevel, filepath.FromSlash(p.Path))
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			result.were[conversation.QuotePath(p.Path)] = was{info.Size(), worktree.LineEnds(name)}
		}
		if p.To == (worktree.Version{}) {
			continue
		}
		then, err := b.takenAway(ctx, p)
		if err != nil {
			return err
		}
		puts[i].Size, puts[i].Ends = then.size, then.ends
	}
	recordAndUnstage := func(ctx context.Context, before, after turnloop.SnapshotResult, result *Result) error {
		if err := record(ctx, before, after, result); err != nil {
			return err
		}
		put := slices.DeleteFunc(slices.Clone(result.Puts), func(p worktree.WriteOp) bool { return p.Is == p.To }) // only the mode
		result.Unstaged, result.Staged, err = b.Files.Unstage(ctx, after.Git.Head, put)
		return err
	}
	if b.copies == nil {
		left, err := b.Files.Tree.Restore(ctx, puts, seen, b.protected())
		if err != nil {
			return err
		}
		b.leave(ctx, result, left)
		if len(result.Puts) == 0 {
			return nil
		}
		ctx = context.WithoutCancel(ctx)
		after, err := b.lookAfter(ctx, sight, pathsOf(result.Puts))
		if err != nil {
			return err
		}
		return recordAndUnstage(ctx, sight, after, result)
	}
	return b.doWithCopies(ctx, result, puts, seen, sight, recordAndUnstage)
}

// leave notes the files that were not put back.
func (b *Undo) leave(ctx context.Context, result *Result, left []worktree.Skipped) {
	result.leave(left)
	if slices.ContainsFunc(left, func(l worktree.Skipped) bool { return l.Why == worktree.WhyStopped }) {
		result.Stopped = context.Cause(ctx)
	}
}

// lookAfter looks at paths that were put back.
func (b *Undo) lookAfter(ctx context.Context, before turnloop.SnapshotResult, paths []string) (turnloop.SnapshotResult, error) {
	return b.Files.Look(ctx, turnloop.SnapshotRequest{Tree: before.Tree, Since: before.Mark, Only: paths, Named: paths})
}

// takenAway is the file that an earlier undo took away or replaced, if it had the content that it is to have.
func (b *Undo) takenAway(ctx context.Context, p worktree.WriteOp) (was, error) {
	for i, e := range slices.Backward(b.View.Events) {
		done, is := e.Body.(*conversation.Restored)
		if !is || i == 0 {
			continue
		}
		at := slices.IndexFunc(done.Files, func(f conversation.RestoredFile) bool { return f.Size > 0 && f.Path == conversation.QuotePath(p.Path) })
		if at < 0 {
			continue
		}
		then, err := trees.Find(ctx, b.View.Repo.Trees, b.View.Events[i-1].Tree, p.Path)
		if err != nil || then.OID == p.To.OID {
			return was{done.Files[at].Size, done.Files[at].Ends}, err
		}
	}
	return was{}, nil
}

// A putBackRecorder records the restored files, given the files before and after.
type putBackRecorder func(ctx context.Context, before, after turnloop.SnapshotResult, result *Result) error

// protected are files that are never put back, in any place.
func (b *Undo) protected() []string {
	return []string{b.View.Repo.At.GitDir, b.View.Repo.At.CommonDir, b.View.Repo.Paths.UserFile, b.View.Repo.Paths.OwnFiles(), b.View.Repo.Paths.StateDir}
}

// Record adds the changes of others, and the restored files.
func (b *Undo) Record(ctx context.Context, before, after turnloop.SnapshotResult, result *Result) error {
	newest := b.View.Events[len(b.View.Events)-1]
	stream := conversation.JoinTail(conversation.SplitTail(b.View.Events))
	stream.SetClock(b.View.Repo.Env.Now)
	var records []*conversation.Event
	if before.Tree != newest.Tree {
		records = append(records, &conversation.Event{Body: repo.Outside(before), Tree: before.Tree, Objects: before.Objects})
	}
	done := result.Restored(b.AsOf)
	records = append(records, &conversation.Event{
		Body: done, Tree: after.Tree, Objects: after.Objects, Git: repo.Moved(b.View.Events, after.Git), Subject: b.subject(len(result.Puts)),
	})
	err := stream.Append(func(events []*conversation.Event) error {
		_, err := b.View.Repo.Store.Append(ctx, b.View.ID, b.View.Head, events)
		return err
	}, records...)
	if err != nil {
		return fmt.Errorf("the files were put back, but not recorded: %w", err)
	}
	seq := stream.Last().Seq
	result.Event = &seq
	return nil
}

func (b *Undo) subject(n int) string {
	word := "before"
	seq := b.Since
	if b.Opts.Action == "restore" {
		word, seq = "after", b.AsOf
	}
	return fmt.Sprintf("%s: %s as %s %d", b.Opts.Action, conversation.Count(n, "file"), word, seq)
}

// TakenBack reports whether an undo of the event that records the result would put back each of its files.
func (b *Undo) TakenBack(ctx context.Context, r *Result) bool {
	again, event, err := New(ctx, b.View.Repo, Options{Action: "undo", Word: fmt.Sprintf("%s@%d", b.View.ID, *r.Event), DryRun: true})
	if err != nil {
		return false
	}
	defer again.Close()
	again.Before(event)
	_, back, err := again.Propose(ctx)
	if err != nil {
		return false
	}
	paths := back.Paths()
	return !slices.ContainsFunc(r.Puts, func(p worktree.WriteOp) bool { return !slices.Contains(paths, p.Path) })
}

// Known refuses a named path that is absent from the event's snapshot, and that no later event touched.
func (b *Undo) Known(ctx context.Context, event *conversation.Event) error {
	h, err := b.history(ctx)
	if err != nil {
		return err
	}
	for _, path := range b.Opts.Paths {
		one := []string{path}
		there, err := trees.Find(ctx, b.View.Repo.Trees, event.Tree, path)
		if err != nil {
			return fmt.Errorf("look for %s in event %d: %w", path, event.Seq, err)
		}
		touched := false
		for _, s := range h.Steps {
			for _, m := range s.Moves {
				touched = touched || worktree.Under(m.Path, one)
			}
		}
		if there == (trees.Version{}) && !touched && path != "." {
			return problem.New(problem.ExitNotFound, "not_found", "no snapshot of %s has %s.", b.View.ID, path).About(b.View.ID).
				Hint(action.DiffSince(problem.Itoa(event.Seq)), "the files that changed since")
		}
	}
	return nil
}

// Before makes it an undo of an event and all behind it.
func (b *Undo) Before(event *conversation.Event) {
	b.event = event
	b.AsOf, b.Since, b.When = max(0, event.Seq-1), event.Seq, fmt.Sprintf("before @%d", event.Seq)
	b.decide = func(h history) []plannedFile { return h.Before(event.Seq) }
}

// After makes it a restore of some paths, or of all, as they were after an event.
func (b *Undo) After(event *conversation.Event, paths []string) {
	b.event = event
	b.AsOf, b.Since, b.When = event.Seq, event.Seq+1, fmt.Sprintf("after @%d", event.Seq)
	b.decide = func(h history) []plannedFile { return h.After(event.Seq, paths) }
}
