package worktree

import (
	"context"
	"slices"
)

// Bounds of a snapshot in process: git reads many files, and large ones, as well, and then has them in an
// index.
const (
	mostInProcess      = 64
	mostBytesInProcess = 8 << 20
)

// inProcess makes the snapshot without git, and without an index of its own. ok is false if only git can
// make it, or should.
func (s *snapshot) inProcess(ctx context.Context, p *plan) (taken Snapshot, ok bool) {
	paths := slices.Concat(p.remove, p.take)
	if s.opts.Objects == nil || !s.holds || len(p.unflag) > 0 || len(paths) > mostInProcess {
		return Snapshot{}, false
	}
	rules, err := s.w.rulesFor(ctx, p.take)
	if err != nil {
		return Snapshot{}, false
	}
	n := s.w.named(s.parent, s.opts.Objects)
	n.budget = mostBytesInProcess
	for _, path := range p.remove {
		if n.drop(path) != nil {
			return Snapshot{}, false
		}
	}
	for _, path := range p.take {
		if n.record(path, rules[path]) != nil {
			return Snapshot{}, false
		}
	}
	if n.finish() != nil {
		return Snapshot{}, false
	}
	if n.taken.Tree != s.parent {
		sortChanges(n.taken.Changes)
		s.but = s.differing(paths, p.untracked)
		s.w.remember(s.known, n.taken.Tree)
	}
	return n.taken, true
}

// differing are the paths at which the new tree may differ from the index: those at which the parent's may,
// also those left out now, and those that were looked at, without those that neither has.
func (s *snapshot) differing(paths, neither []string) []string {
	all := slices.Concat(s.but, paths)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(path string) bool { return slices.Contains(neither, path) })
}

// drop notes that a path is gone.
func (n *pathSnapshot) drop(path string) error {
	old, err := n.old(path)
	if err != nil {
		return err
	}
	return n.remove(path, old)
}

// record notes the content of a path that was admitted.
func (n *pathSnapshot) record(path string, rules pathRules) error {
	old, err := n.old(path)
	if err != nil {
		return err
	}
	st, err := n.w.lookup(path)
	if err != nil || isDir(st) || old.mode == modeTree || !recordable(st) || !n.budget.spend(st.Size) {
		return errAskGit
	}
	return n.put(path, old, st, rules)
}

// follow notes the paths at which the new tree may differ from an index that is known to hold the parent's
// tree. Of a removed path git says whether the index has it.
func (w *Worktree) follow(ctx context.Context, parentTree string, taken *Snapshot) {
	if taken.Tree == parentTree {
		return
	}
	now, cancel := context.WithCancel(context.Background())
	cancel() // another snapshot at this moment notes its own
	unlock, err := w.lock(now, "snapshot.lock")
	if err != nil {
		return
	}
	defer unlock()
	k := w.recall(parentTree)
	if !k.holds {
		return
	}
	var gone []string
	for _, c := range taken.Changes {
		if c.Status == "D" {
			gone = append(gone, c.Path)
		}
		if !slices.Contains(k.but, c.Path) {
			k.but = append(k.but, c.Path)
		}
	}
	neither, err := (&snapshot{w: w, known: k}).untrackedOf(ctx, gone)
	if err != nil || len(k.but) > mostInProcess {
		return
	}
	k.but = slices.DeleteFunc(k.but, func(path string) bool { return slices.Contains(neither, path) })
	w.remember(k, taken.Tree)
}
