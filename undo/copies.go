package undo

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/agent/repo"
	"jp/backup"
	"jp/conversation"
	"jp/gitstore/trees"
	"jp/turnloop"
	"jp/worktree"
)

// copies are a conversation's changes by the backups of a repository.
type copies struct {
	store   *backup.Store
	calls   map[int][]backup.Change            // by the seq of the call's request, of its last run
	events  map[int][]backup.Change            // that jp itself made, by the seq of the event
	kept    map[worktree.WriteOp]*backup.Entry // by path and To
	lacks   map[string]*backup.Entry           // changed paths without a copy
	modes   map[string][]backup.Change         // changes of the mode alone, oldest first
	seqs    map[string][]int                   // the events of these
	lost    map[int]bool                       // those of calls whose outcome is unknown
	tracked map[string]bool                    // those of kept that a tree had in another state
	since   int                                // the first event that counts for lacks
}

// openCopies reads the changes of a conversation. Without backups there are none.
func openCopies(store *backup.Store, id conversation.ID) (*copies, error) {
	calls, events, err := store.Changes(string(id))
	if err != nil {
		return nil, fmt.Errorf("read the log of backups: %w", err)
	}
	return &copies{store: store, calls: calls, events: events}, nil
}

// versionOf is the state of a path, in the words of a tree. Content without a copy gets a unique name.
func versionOf(e *backup.Entry) worktree.Version {
	oid := e.OID
	if oid == "" {
		oid = fmt.Sprintf("%d %d %d", e.Ino, e.Size, e.Mtime)
	}
	switch {
	case !e.There():
		return worktree.Version{}
	case e.IsFolder():
		return worktree.Version{Mode: worktree.ModeFolder, OID: "folder"}
	case e.IsLink():
		return worktree.Version{Mode: "120000", OID: oid}
	case !e.IsFile():
		return worktree.Version{Mode: "other", OID: "other"}
	case e.Mode&0o100 != 0:
		return worktree.Version{Mode: "100755", OID: oid}
	}
	return worktree.Version{Mode: "100644", OID: oid}
}

// clear forgets the steps merged so far.
func (c *copies) clear(since int) {
	c.since = since
	c.kept, c.lacks = map[worktree.WriteOp]*backup.Entry{}, map[string]*backup.Entry{}
	c.tracked = map[string]bool{}
	c.modes, c.seqs, c.lost = map[string][]backup.Change{}, map[string][]int{}, map[int]bool{}
}

// merge adds to a step its changes by the backups.
func (c *copies) merge(s *step, changes []backup.Change) {
	at := map[string]int{}
	for i, m := range s.Moves {
		at[m.Path] = i
	}
	c.lost[s.Seq] = s.UnknownAuthor
	held := map[string]bool{} // content of which there is a copy
	for i := range changes {
		ch := &changes[i]
		path, before, after := ch.Path(), versionOf(&ch.Before), versionOf(&ch.After)
		m, moved := at[path]
		if ch.Before.Kept() {
			held[ch.Before.OID] = true
		}
		inTree := moved && s.Moves[m].Before != (worktree.Version{})
		recorded := inTree && !slices.Contains(s.Unrecorded, path)
		if ch.Before.Kept() && !recorded {
			c.kept[worktree.WriteOp{Path: path, To: before}] = &ch.Before
			if inTree { // in another state
				s.Moves[m].Before, c.tracked[path] = before, true
			}
		} else if recorded || ch.Before.OnlyMode() {
			c.modes[path], c.seqs[path] = append(c.modes[path], *ch), append(c.seqs[path], s.Seq)
			if ch.After.There() && moved && s.Moves[m].After == (worktree.Version{}) {
				s.Moves[m].After = after
			}
			continue
		}
		if named := strings.HasSuffix(path, "/"); named || ch.Before.There() && !ch.Before.Kept() {
			if _, known := c.lacks[path]; s.Seq >= c.since && !known {
				c.lacks[path] = &ch.Before
			}
			continue
		}
		if ch.Before.There() && before == after {
			if moved && !inTree { // a tree has it since the step
				s.Moves[m].Before, s.Unrecorded = s.Moves[m].After, without(s.Unrecorded, path)
			}
			if ch.Before.Mode != ch.After.Mode {
				c.modes[path], c.seqs[path] = append(c.modes[path], *ch), append(c.seqs[path], s.Seq)
			}
			continue
		}
		switch {
		case !moved && before != after && after.Mode != "":
			s.Moves = append(s.Moves, worktree.Step{Path: path, Before: before, After: after})
		case !moved && before != after:
			s.Moves = append(s.Moves, worktree.Step{Path: path, Before: before})
		case moved && s.Moves[m].Before == (worktree.Version{}) && ch.Before.There():
			s.Moves[m].Before = before
		}
		if moved && s.Moves[m].After == (worktree.Version{}) && ch.After.There() {
			s.Moves[m].After = after
		}
		if ch.Before.There() {
			s.Gone = without(s.Gone, path)
			s.Unrecorded = without(s.Unrecorded, path)
		}
	}
	if len(s.Gone) == 0 {
		s.GoneMore = false
	}
	for _, m := range s.Moves { // a file of which there is a copy got another name
		if m.Before == (worktree.Version{}) && held[m.After.OID] {
			s.Unrecorded = without(s.Unrecorded, m.Path)
		}
	}
}

func without(paths []string, path string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == path })
}

// judged are the paths that the backups know and that the tree lacks now.
func (b *Undo) judged(ctx context.Context, tree string) (paths []string, err error) {
	all := map[string]bool{}
	for op := range b.copies.kept {
		all[op.Path] = true
	}
	for _, changes := range []map[int][]backup.Change{b.copies.calls, b.copies.events} {
		for _, list := range changes {
			for i := range list {
				if !list[i].Before.OnlyMode() {
					all[list[i].Path()] = true
				}
			}
		}
	}
	maps.DeleteFunc(all, func(path string, _ bool) bool { return b.copies.lacks[path] != nil && b.copies.store.Mode(path) != 0 })
	known, err := trees.Files(ctx, b.View.Repo.Trees, tree, slices.Sorted(maps.Keys(all)))
	for path := range known {
		delete(all, path)
	}
	return slices.Sorted(maps.Keys(all)), err
}

// lookAtCopied adds to the newest step the present state of the files that the backups alone know.
func (b *Undo) lookAtCopied(ctx context.Context, h *history, tree string) error {
	paths, err := b.judged(ctx, tree)
	if err != nil || len(paths) == 0 {
		return err
	}
	last := map[string]worktree.Version{}
	for _, s := range h.Steps {
		for _, m := range s.Moves {
			last[m.Path] = m.After
		}
	}
	now := &h.Steps[len(h.Steps)-1]
	for _, path := range paths {
		was, known := last[path]
		if !known {
			continue
		}
		delete(h.Unknown, path)
		e := b.copies.store.Now(path)
		unnamed := e
		unnamed.OID = ""
		switch is := versionOf(&e); {
		case is == was:
		case versionOf(&unnamed) == was: // as the tool left it, and too large to be copied
			h.Unknown[path] = e.Extent() + ", " + backup.WhyLarge
		default:
			now.Moves = append(slices.DeleteFunc(now.Moves, func(m worktree.Step) bool { return m.Path == path }), worktree.Step{Path: path, Before: was, After: is})
		}
	}
	return nil
}

// onlyModes are the files whose mode alone a tool changed, and which have it still.
func (b *Undo) onlyModes(plan []plannedFile) (files []plannedFile) {
	planned := map[string]bool{}
	for _, f := range plan {
		planned[f.Path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(b.copies.modes)) {
		changes, seqs := b.copies.modes[path], b.copies.seqs[path]
		first := slices.IndexFunc(seqs, func(seq int) bool { return seq >= b.Since })
		if first < 0 || planned[path] || len(b.Opts.Paths) > 0 && !worktree.Under(path, b.Opts.Paths) {
			continue
		}
		was, left, is := changes[first].Before.Mode, changes[len(changes)-1].After.Mode, b.copies.store.Mode(path)
		if is == was || is&unix.S_IFMT != unix.S_IFREG || was&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		f := plannedFile{Path: path, Note: fmt.Sprintf("mode %04o", was&0o7777)}
		f.Is = worktree.Version{Mode: "100644", OID: fmt.Sprintf("mode %o", is)}
		f.To = f.Is
		lost := slices.IndexFunc(seqs[first:], func(seq int) bool { return b.copies.lost[seq] })
		switch {
		case is != left:
			f.Why = fmt.Sprintf("others changed its mode after @%d", seqs[len(seqs)-1])
		case lost >= 0 && !slices.Contains(b.Opts.Paths, path):
			f.Why = fmt.Sprintf("it is unknown who changed its mode before @%d", seqs[first+lost]) + byName
		}
		files = append(files, f)
	}
	return files
}

// puts are the files of a plan that may be put back.
func (b *Undo) puts(plan []plannedFile) []worktree.WriteOp {
	var all []worktree.WriteOp
	for _, f := range plan {
		if f.Why != "" {
			continue
		}
		op := worktree.WriteOp{Path: f.Path, Is: f.Is, To: f.To}
		if b.copies != nil && f.To != (worktree.Version{}) {
			b.copies.from(&op, b.Since)
		}
		all = append(all, op)
	}
	return all
}

// from notes the source of a file's content and mode.
func (c *copies) from(op *worktree.WriteOp, since int) {
	if e := c.kept[worktree.WriteOp{Path: op.Path, To: op.To}]; e != nil {
		op.Mode = e.Mode
		if !e.IsFolder() {
			op.From = c.store
		}
		return
	}
	seqs := c.seqs[op.Path]
	if i := slices.IndexFunc(seqs, func(seq int) bool { return seq >= since }); i >= 0 {
		op.Mode = c.modes[op.Path][i].Before.Mode
		switch is, was := op.Mode&0o100 != 0, op.To.Mode == "100755"; { // the tree alone may know this bit
		case op.Is == op.To:
		case was && !is:
			op.Mode |= op.Mode & 0o444 >> 2
		case is && !was:
			op.Mode &^= 0o111
		}
	}
}

// keepFirst makes a moment of the files outside of trees that are about to be put back.
func (b *Undo) keepFirst(ctx context.Context, puts []worktree.WriteOp, tree string) (*backup.Moment, backup.Request, error) {
	newest := b.View.Events[len(b.View.Events)-1]
	r := backup.Request{Conversation: string(b.View.ID), Turn: newest.Turn, Call: -1, Part: true, Modes: map[string]uint32{}, At: worktree.MarkAt(time.Now()).Nanoseconds()}
	known, err := trees.Files(ctx, b.View.Repo.Trees, tree, pathsOf(puts))
	if err != nil {
		return nil, r, err
	}
	for _, p := range puts {
		switch v := known[p.Path]; {
		case p.Is == p.To:
			r.Modes[p.Path] = b.copies.store.Mode(p.Path)
		case p.Is.Mode == worktree.ModeFolder || p.To.Mode == worktree.ModeFolder:
			r.Folders = append(r.Folders, p.Path)
		case v == (worktree.Version{}) || p.From != nil:
			r.Paths = append(r.Paths, p.Path)
		}
	}
	m, err := b.copies.store.Make(ctx, r)
	return m, r, err
}

// doWithCopies puts files back, those of trees first. Trees never get the content of a copy: a tracked path
// is removed from its tree.
func (b *Undo) doWithCopies(ctx context.Context, result *Result, puts []worktree.WriteOp, seen worktree.StatCache, sight turnloop.SnapshotResult, record putBackRecorder) error {
	moment, request, err := b.keepFirst(ctx, puts, sight.Tree)
	if err != nil {
		return err
	}
	var ours, copied []worktree.WriteOp
	for _, p := range puts {
		if p.From == nil {
			ours = append(ours, p)
		} else {
			copied = append(copied, p)
		}
	}
	after, err := sight, error(nil)
	if len(ours) > 0 {
		left, err := b.Files.Tree.Restore(ctx, ours, seen, b.protected())
		if err != nil {
			return err
		}
		b.leave(ctx, result, left)
		if after, err = b.lookAfter(context.WithoutCancel(ctx), sight, pathsOf(ours)); err != nil {
			return err
		}
	}
	if len(copied) > 0 {
		out := slices.DeleteFunc(pathsOf(copied), func(path string) bool { return b.copies.tracked[path] })
		if err := b.takeOut(&after, out); err != nil {
			return err
		}
		for i := range copied { // a folder may have gone with the last file in it
			if now := b.copies.store.Now(copied[i].Path); copied[i].Is.Mode == worktree.ModeFolder && !now.There() {
				copied[i].Is = worktree.Version{}
			}
		}
		left, err := b.Files.Tree.Restore(ctx, copied, seen, b.protected())
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, p := range copied {
			if err != nil {
				left = append(left, worktree.Skipped{Path: p.Path, Why: worktree.WhyStopped})
			}
		}
		b.leave(ctx, result, left)
	}
	if len(result.Puts) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	b.keepFolders(ctx, result)
	if err := record(ctx, sight, after, result); err != nil || result.Event == nil {
		return err
	}
	_, err = b.copies.store.Compare(ctx, moment, request, *result.Event)
	return err
}

// keepFolders makes the folders again that were empty before, and that went with the last file of a tool in
// them.
func (b *Undo) keepFolders(ctx context.Context, result *Result) {
	moment, err := firstMoment(b.copies.store, string(b.View.ID), b.Since)
	if err != nil {
		return // the moment is missing, or dropped
	}
	var folders []worktree.WriteOp
	for _, e := range moment.Entries {
		emptied := func(p worktree.WriteOp) bool {
			return p.To == (worktree.Version{}) && strings.HasPrefix(p.Path, e.Path+"/")
		}
		if e.IsFolder() && e.Kept() && slices.ContainsFunc(result.Puts, emptied) && !slices.Contains(result.Paths(), e.Path) && b.copies.store.Mode(e.Path) == 0 {
			folders = append(folders, worktree.WriteOp{Path: e.Path, To: versionOf(&e), Mode: e.Mode})
		}
	}
	_, _ = b.Files.Tree.Restore(ctx, folders, nil, b.protected()) // the files are back without them
}

// firstMoment is the first moment of all paths at or behind an event of a conversation, or the one of an undo there.
func firstMoment(store *backup.Store, id string, seq int) (*backup.Moment, error) {
	records, err := store.Records()
	var last backup.Record
	for _, r := range records {
		switch {
		case r.Conversation != id:
		case r.List != "" && !r.Part && r.Call >= seq:
			return store.MomentOf(r)
		case r.List != "":
			last = r
		case r.Event >= seq && last.Call < 0:
			return store.MomentOf(last)
		}
	}
	return nil, cmp.Or(err, fs.ErrNotExist)
}

// takeOut takes paths out of the tree of a look.
func (b *Undo) takeOut(after *turnloop.SnapshotResult, paths []string) error {
	made := map[string]conversation.Object{}
	for _, o := range after.Objects {
		made[o.OID] = o
	}
	tree, objects, err := worktree.TreeWithout(b.View.Repo.At.ObjectFormat, after.Tree, paths, objectsOf{made, b.View.Repo.Store})
	if err != nil {
		return err
	}
	after.Tree = tree
	for _, o := range objects {
		after.Objects = append(after.Objects, conversation.Object{Kind: o.Kind, OID: o.OID, Data: o.Data})
	}
	return nil
}

// objectsOf has unwritten objects beside those of a repository.
type objectsOf struct {
	made  map[string]conversation.Object
	other worktree.ObjectReader
}

// ReadObject implements [worktree.ObjectReader].
func (o objectsOf) ReadObject(oid string) (kind string, data []byte, err error) {
	if made, is := o.made[oid]; is {
		return made.Kind, made.Data, nil
	}
	return o.other.ReadObject(oid)
}

// withoutCopy are the files and folders that changed, without a copy, and outside of the plan.
func (b *Undo) withoutCopy(planned map[string]bool) (files []plannedFile) {
	for _, path := range slices.Sorted(maps.Keys(b.copies.lacks)) {
		e := b.copies.lacks[path]
		now := b.copies.store.Now(path)
		planned[path] = planned[path] || !e.There() && !now.There() // it came and went
		if planned[path] || len(b.Opts.Paths) > 0 && !worktree.Under(strings.TrimSuffix(path, "/"), b.Opts.Paths) || now.Mode == e.Mode && now.Ino == e.Ino && now.Mtime == e.Mtime {
			continue
		}
		planned[path] = true
		files = append(files, plannedFile{Path: path, Why: repo.WhyNoCopy(e)})
	}
	return files
}

func pathsOf(puts []worktree.WriteOp) (paths []string) {
	for _, p := range puts {
		paths = append(paths, p.Path)
	}
	return paths
}
