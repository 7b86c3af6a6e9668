package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/process"
	"jp/redact"
	"jp/turnloop"
	"jp/undo/undoplan"
	"jp/worktree"
)

type putBackOptions struct {
	action string // "undo" or "restore"
	word   string // [ID]@E
	paths  []string
	dryRun bool
	yes    bool
}

// A putBack is one undo or restore. It holds the conversation from the first
// look at the files to the event that records what was done.
type putBack struct {
	*view
	opts   putBackOptions
	held   *process.Lock
	files  *files
	asOf   int                                    // the event whose files they are
	since  int                                    // the first event whose changes count
	when   string                                 // "before @18"
	decide func(undoplan.History) []undoplan.File // what may be put back
	// differing counts the files that are not what they are to be, whoever wrote them.
	differing int
}

// newPutBack finds the conversation, takes it for this process, and reads it.
// The event is nil where none was named.
func newPutBack(ctx context.Context, r *repo, o putBackOptions) (*putBack, *conversation.Event, error) {
	v, event, err := r.find().moment(ctx, r.env, o.word)
	if err != nil {
		return nil, nil, err
	}
	if v.remote != "" {
		return nil, nil, lookOnly(conversation.Info{ID: v.id, Remote: v.remote})
	}
	b := &putBack{view: v, opts: o}
	if err := b.take(ctx); err != nil {
		b.close()
		return nil, nil, err
	}
	return b, event, nil
}

// close lets go of the conversation.
func (b *putBack) close() { b.held.Release() }

// take locks the conversation, reads it as it is then, and refuses one that
// must not be added to.
func (b *putBack) take(ctx context.Context) (err error) {
	if !b.opts.dryRun {
		if b.held, err = b.repo.hold(ctx, b.repo.env, b.id); err != nil {
			return err
		}
	}
	fresh, err := b.repo.find().view(ctx, b.repo.env, string(b.id))
	if err != nil {
		return err
	}
	b.view = fresh
	switch {
	case b.broken != nil:
		return b.damage(nil)
	case b.events[len(b.events)-1].Opaque():
		return fail(exitDecision, "untrusted", "Conversation %s was written by a newer jp; it can be read only.", b.id).about(b.id)
	}
	if err := b.repo.standings().mayAct(ctx, b.id, b.head, b.events, "read only"); err != nil {
		return err
	}
	switch {
	case b.tail != nil && open(b.tail.Ledger()):
		return incompleteFailure(b.id, b.tail)
	}
	if b.files, err = b.repo.openFiles(ctx); err == nil && b.files.off {
		err = withoutSnapshots()
	}
	return err
}

// open reports whether a tool call of the turn has not come to its end.
func open(l *conversation.Ledger) bool {
	return len(l.Open()) > 0 || l.Undelivered() != nil || len(l.Live()) > 0
}

// propose says what would be done with the files as they are now, if they are those
// of the conversation.
func (b *putBack) propose(ctx context.Context) (turnloop.Sight, *putBackResult, error) {
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
func (b *putBack) plan(ctx context.Context) (turnloop.Sight, []undoplan.File, error) {
	h, err := b.history(ctx)
	if err != nil {
		return turnloop.Sight{}, nil, err
	}
	newest := b.events[len(b.events)-1].Tree
	sight, err := b.files.Look(ctx, turnloop.Glance{Tree: newest, Named: b.written(h)})
	if err != nil {
		return sight, nil, err
	}
	if b.files.off {
		return sight, nil, withoutSnapshots()
	}
	drift, err := b.files.tree.Trail(ctx, []string{newest, sight.Tree})
	if err != nil {
		return sight, nil, err
	}
	h.Steps = append(h.Steps, undoplan.Step{Seq: undoplan.Now, Moves: drift[0]})
	h.Unknown = map[string]string{}
	for _, l := range sight.LeftOut {
		if path, err := conversation.UnquotePath(l.Path); err == nil {
			h.Unknown[path] = l.Why
		}
	}
	plan := b.decide(h)
	if err := b.refuse(ctx, plan); err != nil {
		return sight, nil, err
	}
	b.differing = h.Differing(b.since, b.opts.paths)
	return sight, append(plan, b.unrecorded(plan)...), nil
}

// refuse says of the files of a plan which cannot be written as they are now.
func (b *putBack) refuse(ctx context.Context, plan []undoplan.File) error {
	refused, err := b.files.tree.Refuse(ctx, puts(plan), b.protected())
	why := map[string]string{}
	for _, l := range refused {
		why[l.Path] = l.Why
	}
	for i, f := range plan {
		plan[i].Why = cmp.Or(f.Why, why[f.Path])
	}
	return err
}

// unrecorded are files that tools wrote or deleted, that were not recorded, and that are
// still there or still gone: nothing is known to put in their place.
func (b *putBack) unrecorded(plan []undoplan.File) (files []undoplan.File) {
	known := map[string]bool{}
	for _, f := range plan {
		known[f.Path] = true
	}
	for _, e := range b.events {
		response, is := e.Body.(*conversation.ToolCallResponse)
		if !is || e.Seq < b.since {
			continue
		}
		for _, l := range response.LeftOut {
			path, err := conversation.UnquotePath(l.Path)
			if err != nil || known[path] || len(b.opts.paths) > 0 && !worktree.Under(path, b.opts.paths) {
				continue
			}
			_, err = os.Lstat(filepath.Join(b.repo.TopLevel, filepath.FromSlash(path)))
			_, secret := redact.Restore(path, func(string) (string, bool) { return "", false }) // then its name is not known
			if gone := l.Why == worktree.WhyGone; len(secret) > 0 || gone == (err != nil) {
				known[path] = true
				files = append(files, undoplan.File{Path: path, Why: "was not recorded: " + l.Why})
			}
		}
	}
	return files
}

// written are the paths that may be put back, so that they are looked at
// whatever git thinks of them.
func (b *putBack) written(h undoplan.History) []string {
	var paths []string
	for _, s := range h.Steps {
		if !s.Ours || s.Seq < b.since {
			continue
		}
		named := slices.Clone(s.Lost)
		for _, m := range s.Moves {
			named = append(named, m.Path)
		}
		for _, path := range named {
			if len(b.opts.paths) == 0 || worktree.Under(path, b.opts.paths) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// same refuses to work on the files of another working tree than the one in which the
// conversation last worked.
func (b *putBack) same(now conversation.Git) error {
	if then := b.lastPlace(); then != nil && !then.SameWorktree(now) {
		return b.notHere(*then, now)
	}
	return nil
}

// notHere says where the conversation worked instead.
func (b *putBack) notHere(then, now conversation.Git) error {
	f := fail(exitDecision, "elsewhere", "%s worked in %s; these are not its files.", b.id, whichWorktree(then, now)).about(b.id)
	if dir := b.repo.worktreeDir(then.Worktree); dir != "" && then.Worktree != now.Worktree {
		return f.hint("cd "+safetext.Escape(dir), "go there")
	}
	return f.hint("jp fork "+b.id.Short()+" --worktree DIR", "a new working tree with its files")
}

// whichWorktree names another working tree than the present one.
func whichWorktree(then, now conversation.Git) string {
	switch {
	case then.Repo != now.Repo && then.Repo != "":
		return "another repository"
	case then.Worktree == "":
		return "the main working tree"
	case then.Worktree == now.Worktree:
		return "an earlier worktree " + safetext.Show(then.Worktree)
	}
	return "worktree " + safetext.Show(then.Worktree)
}

// do puts the files back and records it. Somebody may have written meanwhile:
// the files are looked at again, under the lock that tools take to change them. A
// signal stops it between two files; what was put back until then is recorded.
func (b *putBack) do(ctx context.Context, result *putBackResult, record putBackRecorder) error {
	release, err := b.files.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	seen := b.files.tree.Look(result.paths())
	sight, plan, err := b.plan(ctx)
	if err != nil {
		return err
	}
	left, err := b.files.tree.Restore(ctx, result.confirmed(plan), seen, b.protected())
	if err != nil {
		return err
	}
	result.leave(left)
	if slices.ContainsFunc(left, func(l worktree.LeftOut) bool { return l.Why == worktree.WhyStopped }) {
		result.stopped = context.Cause(ctx)
	}
	if len(result.puts) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	after, err := b.files.Look(ctx, turnloop.Glance{Tree: sight.Tree, Since: sight.Mark, Only: result.paths(), Named: result.paths()})
	if err != nil {
		return err
	}
	return record(ctx, sight, after, result)
}

// A putBackRecorder records what was put back, given the files before and after.
type putBackRecorder func(ctx context.Context, before, after turnloop.Sight, result *putBackResult) error

// protected are files that are never put back, wherever they lie.
func (b *putBack) protected() []string {
	return []string{b.repo.GitDir, b.repo.CommonDir, b.repo.paths.UserFile, b.repo.paths.StateDir}
}

// record adds what others changed, and what was put back.
func (b *putBack) record(ctx context.Context, before, after turnloop.Sight, result *putBackResult) error {
	newest := b.events[len(b.events)-1]
	stream := conversation.Join(conversation.Split(b.events))
	stream.SetClock(b.repo.env.now)
	var records []*conversation.Event
	if before.Tree != newest.Tree {
		records = append(records, &conversation.Event{Body: outside(before), Tree: before.Tree, Objects: before.Objects})
	}
	done := result.restored(b.asOf)
	records = append(records, &conversation.Event{
		Body: done, Tree: after.Tree, Objects: after.Objects, Git: moved(b.events, after.Git), Subject: b.subject(len(result.puts)),
	})
	err := stream.Append(func(events []*conversation.Event) error {
		_, err := b.repo.store.Append(ctx, b.id, b.head, events)
		return err
	}, records...)
	if err != nil {
		return fmt.Errorf("the files were put back, but not recorded: %w", err)
	}
	seq := stream.Last().Seq
	result.Event = &seq
	return nil
}

// outside is the record of what others changed.
func outside(s turnloop.Sight) *conversation.Workspace {
	n := listed(s.Stat, func(p conversation.PathStat) string { return p.Path })
	return &conversation.Workspace{Paths: s.Stat[:n], More: len(s.Stat) - n}
}

func (b *putBack) subject(n int) string {
	word := "before"
	seq := b.since
	if b.opts.action == "restore" {
		word, seq = "after", b.asOf
	}
	return fmt.Sprintf("%s: %s as %s %d", b.opts.action, conversation.Count(n, "file"), word, seq)
}

// moved is where the repository stands, if that is not what the events say.
func moved(events []*conversation.Event, now conversation.Git) *conversation.Git {
	for _, e := range slices.Backward(events) {
		switch {
		case e.Git == nil:
		case e.Git.SamePlace(now):
			return nil
		default:
			if e.Git.Head != now.Head {
				now.HeadWas = e.Git.Head
			}
			if e.Git.Branch != now.Branch {
				now.BranchWas = e.Git.Branch
			}
			return &now
		}
	}
	return &now
}

// What an event lists of paths is bounded by their number and their bytes.
const maxListed, maxListedBytes = 200, 20 << 10

// listed is how many of the paths an event can list.
func listed[T any](items []T, text func(T) string) int {
	size := 0
	for i, item := range items {
		if size += len(text(item)); i == maxListed || size > maxListedBytes {
			return i
		}
	}
	return len(items)
}

// puts are the files of a plan that may be put back.
func puts(plan []undoplan.File) []worktree.Put {
	var all []worktree.Put
	for _, f := range plan {
		if f.Why == "" {
			all = append(all, worktree.Put{Path: f.Path, Is: f.Is, To: f.To})
		}
	}
	return all
}

// known refuses a named path that neither the event's files nor the newest ones
// have, and that no event touched in between.
func (b *putBack) known(ctx context.Context, event *conversation.Event) error {
	h, err := b.history(ctx)
	if err != nil {
		return err
	}
	for _, path := range b.opts.paths {
		one := []string{path}
		out, err := b.repo.git.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", event.Tree, "--", path)
		if err != nil {
			return fmt.Errorf("look for %s in event %d: %w", path, event.Seq, err)
		}
		touched := false
		for _, s := range h.Steps {
			for _, m := range s.Moves {
				touched = touched || worktree.Under(m.Path, one)
			}
		}
		if len(out) == 0 && !touched && path != "." {
			return fail(exitNotFound, "not_found", "no snapshot of %s has %s.", b.id, path).about(b.id).
				hint(fmt.Sprintf("jp diff @%d.. --name-only", event.Seq), "the files that changed since")
		}
	}
	return nil
}

// before makes it an undo of an event and all behind it.
func (b *putBack) before(event *conversation.Event) {
	b.asOf, b.since, b.when = max(0, event.Seq-1), event.Seq, fmt.Sprintf("before @%d", event.Seq)
	b.decide = func(h undoplan.History) []undoplan.File { return h.Before(event.Seq) }
}

// after makes it a restore of some paths, or of all, as they were after an event.
func (b *putBack) after(event *conversation.Event, paths []string) {
	b.asOf, b.since, b.when = event.Seq, event.Seq+1, fmt.Sprintf("after @%d", event.Seq)
	b.decide = func(h undoplan.History) []undoplan.File { return h.After(event.Seq, paths) }
}
