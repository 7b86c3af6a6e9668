package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/worktree"
)

// Sides of the snapshot rows.
const (
	snapBefore = "clean"
	snapAfter  = "after a tool"
	snapOne    = "1 changed"
	snapNamed  = "1 named"
	snapStatus = "git status"
)

// edited is the file that changes.
const edited = "pkg000/sub0/file00000.go"

// snapshotOf measures snapshots of n small files. First all files stay, then one changes, so git status
// runs against each of the two states.
func snapshotOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, p filesystem) ([]row, error) {
		s, err := b.newSnapshots(ctx, p, n)
		if err != nil {
			return nil, err
		}
		defer s.objects.Close()
		clean, err := rounds(ctx, b.rng, b.slowOps, []side{s.beforeSide(), s.afterSide(), s.statusSide()})
		if err != nil {
			return nil, err
		}
		dirty, err := rounds(ctx, b.rng, b.slowOps, []side{s.oneSide(), s.namedSide(), s.statusSide()})
		if err != nil {
			return nil, err
		}
		return append(snapshotRows(n, clean, snapBefore, snapAfter), snapshotRows(n, dirty, snapOne, snapNamed)...), nil
	}
}

// snapshotRows compares sides with the git status beside them. Targets are of
// 12,000 files.
func snapshotRows(n int, all timings, sides ...string) []row {
	targets := map[string]float64{snapBefore: 0.6, snapAfter: 0.9, snapOne: 1.25}
	var rows []row
	for _, name := range sides {
		r := all.row(fmt.Sprintf("snapshot %s files, %s", grouped(n), name), name, snapStatus)
		if n == 12_000 {
			r = r.within(targets[name])
		}
		if name == snapBefore {
			r = r.grows(workSnapshot, n)
		}
		rows = append(rows, r)
	}
	return rows
}

// snapshots is a working tree of which snapshots are taken.
type snapshots struct {
	repo    gitcmd.Repository
	tree    *worktree.Worktree
	objects *odb.Store
	parent  string // tree of the newest snapshot
	edits   int
	mark    worktree.Timestamp
	pending []worktree.Object // of parent, still unwritten
}

func (b *bench) newSnapshots(ctx context.Context, p filesystem, n int) (*snapshots, error) {
	dir, err := b.newDir(p.Dir)
	if err != nil {
		return nil, err
	}
	if err := writeFiles(dir, n); err != nil {
		return nil, err
	}
	s := &snapshots{}
	if s.repo, err = initRepo(ctx, dir); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", "files"}, {"repack", "-adq"}, {"update-index", "--refresh"}} {
		if _, err := git(ctx, dir, args...); err != nil {
			return nil, err
		}
	}
	if s.tree, err = worktree.Open(ctx, s.repo, worktree.Options{}); err != nil {
		return nil, err
	}
	state, err := s.tree.State(ctx)
	if err != nil {
		return nil, err
	}
	if s.parent, err = s.tree.CommitTree(ctx, state.Head, nil); err != nil {
		return nil, err
	}
	s.objects, err = odb.Open(s.repo.CommonDir, odb.Options{Format: s.repo.ObjectFormat, Durability: odb.Off})
	return s, err
}

// writeFiles makes n small files, a hundred in a folder.
func writeFiles(dir string, n int) error {
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("pkg%03d/sub%d/file%05d.go", i/500, i/100%5, i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "package p // %d\n", i), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshots) statusSide() side {
	return side{name: snapStatus, block: 3, run: func(ctx context.Context) error {
		return gitTo(ctx, s.repo.TopLevel, nil, nil, "status", "--porcelain=v2")
	}}
}

func (s *snapshots) beforeSide() side {
	return side{name: snapBefore, block: 3, run: func(ctx context.Context) error {
		return s.take(ctx, worktree.SnapshotOptions{Fresh: true}) // as before the first tool of a turn
	}}
}

func (s *snapshots) afterSide() side {
	return side{name: snapAfter, block: 3, prepare: s.remark, run: func(ctx context.Context) error {
		return s.take(ctx, worktree.SnapshotOptions{Since: &s.mark, Untracked: true})
	}}
}

func (s *snapshots) oneSide() side {
	return side{name: snapOne, block: 3, prepare: s.edit, run: func(ctx context.Context) error {
		before := s.parent
		err := s.take(ctx, worktree.SnapshotOptions{Since: &s.mark, Untracked: true})
		if err == nil && s.parent == before {
			err = fmt.Errorf("the change of %s was not seen", edited)
		}
		return err
	}}
}

// namedSide looks only at the named path.
func (s *snapshots) namedSide() side {
	return side{name: snapNamed, block: 3, prepare: s.edit, run: func(ctx context.Context) error {
		taken, ok, err := s.tree.SnapshotPaths(ctx, s.parent, []string{edited}, s)
		if err != nil {
			return err
		}
		if !ok || taken.Tree == s.parent {
			return fmt.Errorf("the change of %s was not taken", edited)
		}
		s.hold(taken)
		return nil
	}}
}

// ReadObject implements [worktree.ObjectReader].
func (s *snapshots) ReadObject(oid string) (kind string, data []byte, err error) {
	return s.objects.ReadObject(odb.OID(oid))
}

func (s *snapshots) take(ctx context.Context, opts worktree.SnapshotOptions) error {
	opts.Objects = s
	taken, err := s.tree.Snapshot(ctx, s.parent, opts)
	if err == nil {
		s.hold(taken)
	}
	return err
}

// hold leaves the new objects to the write of the event, as jp does, so that this measures without writing
// them.
func (s *snapshots) hold(taken worktree.Snapshot) {
	s.parent, s.pending = taken.Tree, append(s.pending, taken.Objects...)
}

func (s *snapshots) remark() (err error) {
	s.mark, err = s.tree.Now(context.Background())
	return err
}

// edit changes a file after a mark, to a new content.
func (s *snapshots) edit() error {
	var batch odb.Batch
	for _, o := range s.pending {
		batch.Objects = append(batch.Objects, odb.Object{Kind: o.Kind, OID: odb.OID(o.OID), Data: o.Data})
	}
	s.pending = nil
	if err := s.objects.Write(context.Background(), batch); err != nil {
		return err
	}
	if err := s.remark(); err != nil {
		return err
	}
	s.edits++
	return os.WriteFile(filepath.Join(s.repo.TopLevel, edited), fmt.Appendf(nil, "package p // changed %d\n", s.edits), 0o644)
}
