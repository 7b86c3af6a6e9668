package worktree

import (
	"context"
	"fmt"

	"jp/gitcmd"
)

// Snapshot is the working tree as a tree object.
type Snapshot struct {
	Tree    string
	Changes []Change  // against the parent's tree, sorted by path
	LeftOut []Skipped // sorted by path
	Stale   []string  // those of LeftOut that the tree has as it had them before
	Objects []Object  // to be written by the caller; only those of a snapshot in process

	// Untracked are the untracked files that are missing in the tree, for the next Snapshot; nil without
	// SnapshotOptions.ListUntracked.
	Untracked *UntrackedFiles

	// Modes are the modes of tracked files that SnapshotOptions.Odd reports.
	Modes map[string]uint32
}

// SnapshotOptions name the files to look at beyond the tracked files and the files of the parent's tree.
type SnapshotOptions struct {
	// Since and Untracked together take untracked files that were written after the mark. Without them git
	// does not even list untracked files.
	Since     *Timestamp
	Untracked bool
	// ListUntracked are the untracked files from before the mark; nil if unknown.
	ListUntracked *UntrackedFiles
	// Unchanged reports a file of ListUntracked that was written and equals its earlier state: the tree
	// does not get it. nil: none is known.
	Unchanged func(path string) bool

	// Named are the paths that a tool wrote by its own report. Snapshot looks at them even if the user hid
	// them from git.
	Named []string

	// Odd selects modes of tracked files to report. nil selects none.
	Odd func(mode uint32) bool

	// Fresh looks at each tracked file. Without it a snapshot after Since may serve until the kernel notes a change.
	Fresh bool

	// Objects lets few changes be recorded in process, as SnapshotPaths does: the caller writes
	// Snapshot.Objects, before anything that names the tree. nil: git writes all objects.
	Objects ObjectReader
}

// Snapshot records the working tree: tracked files with their present content, existing files of the
// parent's tree, and the files of the options. If all is unchanged, it is the parent's tree, and jp writes
// nothing. Objects that it does not return are durable then, unless Options.Volatile is set. Errors:
// ErrTooWide, ErrBadPath, ErrBadTree, or git's error. One file alone is never an error.
func (w *Worktree) Snapshot(ctx context.Context, parentTree string, opts SnapshotOptions) (Snapshot, error) {
	if w.opts.Mode == Off {
		return Snapshot{Tree: parentTree}, nil
	}
	if err := w.admit(parentTree, opts.Named); err != nil {
		return Snapshot{}, fmt.Errorf("snapshot: %w", err)
	}
	unlock, err := w.lock(ctx, "snapshot.lock")
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot: %w", err)
	}
	defer unlock()
	err = w.gaps.Remember(ctx, func() (string, error) {
		state, err := w.State(ctx)
		return state.Head, err
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot: %w", err)
	}
	s := &snapshot{w: w, parent: parentTree, opts: opts, known: w.recall(parentTree)}
	taken, err := s.make(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot: %w", err)
	}
	return taken, nil
}

// admit refuses input of which a snapshot is impossible.
func (w *Worktree) admit(parentTree string, paths []string) error {
	if !isOID(parentTree) {
		return fmt.Errorf("parent %q: %w", parentTree, ErrBadTree)
	}
	if w.tooWide() {
		return fmt.Errorf("%s: %w", w.repo.TopLevel, ErrTooWide)
	}
	for _, path := range paths {
		if err := checkPath(path); err != nil {
			return err
		}
	}
	return nil
}

// snapshot is one snapshot in the making.
type snapshot struct {
	w      *Worktree
	parent string
	opts   SnapshotOptions
	others *UntrackedFiles // of after the mark; nil if unneeded
	known
	modes    map[string]uint32
	isSparse *bool             // nil: unknown yet
	filters  map[string]string // of the files that are to be recorded and have one, by path
}

func (s *snapshot) make(ctx context.Context) (Snapshot, error) {
	if s.opts.ListUntracked != nil && s.opts.Since != nil && s.opts.Untracked {
		s.others = newUntracked(nil)
		s.others.lister = s.w.lister
	}
	found, err := s.scan(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	p, err := s.decide(ctx, found)
	if err != nil {
		return Snapshot{}, err
	}
	taken, err := s.take(ctx, p)
	if err != nil {
		return Snapshot{}, err
	}
	s.others.Recorded(taken.Changes)
	taken.LeftOut, taken.Stale, taken.Untracked, taken.Modes = p.leftOut(), p.stale(), s.others, s.modes
	return taken, nil
}

// take makes the tree that was planned.
func (s *snapshot) take(ctx context.Context, p *plan) (Snapshot, error) {
	if p.nothing() {
		if !s.holds {
			s.w.remember(s.known, s.parent)
		}
		return Snapshot{Tree: s.parent}, nil
	}
	if taken, ok := s.inProcess(ctx, p); ok {
		return taken, nil
	}
	tree, err := s.record(ctx, p)
	if err != nil {
		return Snapshot{}, err
	}
	changes, err := s.w.Diff(ctx, s.parent, tree)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{Tree: tree, Changes: changes}, nil
}

// git runs a command on the index that this snapshot works on.
func (s *snapshot) git(ctx context.Context, c gitcmd.Command) ([]byte, error) {
	if s.kept {
		c.Env = append(c.Env, "GIT_INDEX_FILE="+s.w.keptIndex())
	}
	return s.w.git.RunWith(ctx, c)
}
