// Package packing moves the loose objects of conversations into packs, so that
// the files of a repository stay few however long jp is used.
//
// The git program packs, into a folder of this package's own: a pack gets its place when it is whole, and
// known to be ours. Invariants: a loose file is removed only after a pack that holds its object is on the
// disk and another process has read that pack; only packs that this package made are ever merged; at most
// one process packs in a repository at a time; and writers and readers go on meanwhile, since no ref moves.
//
// It refuses to be a gc: it never drops an object, never touches the packs of the user, and leaves alone
// all objects that no conversation needs.
package packing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/internal/safefile"
)

// Enough is about how many loose objects are worth a pack. Fewer would make too
// many packs, each of which every git command opens.
const Enough = 500

// A Packer packs in one git directory.
type Packer struct {
	odb   *odb.Store
	git   *gitcmd.Git
	files files
	dir   string // the git directory
	work  string // where packs are made
	state string // the path of its notes
	lock  string
}

// New returns the Packer of a repository.
func New(db *odb.Store, git *gitcmd.Git) *Packer {
	own := filepath.Join(db.Dir(), safefile.StateDirName)
	work := filepath.Join(db.Dir(), "objects", workFolder)
	return &Packer{odb: db, git: git, files: osFiles{git.Share}, dir: db.Dir(), work: work, state: filepath.Join(own, "packing.json"), lock: filepath.Join(own, "packing.lock")}
}

// Result is the work of one Pack.
type Result struct {
	Packed int // objects that went into new packs
	Merged int // packs of ours that became one
	Left   int // loose objects that are left in the repository
}

// Pack packs the loose objects of conversations, and merges packs of ours if they have become many. It
// fails with ErrBusy if another process packs. After an error every object is in its old place, or in two
// places.
func (p *Packer) Pack(ctx context.Context) (r Result, err error) {
	unlock, err := p.alone()
	if err != nil {
		return r, err
	}
	defer unlock()
	s := p.readState()
	s.Began = time.Now().UTC()
	if err := errors.Join(p.tidy(), p.endMoves(ctx, &s), p.mendMultiIndex(), p.writeState(s)); err != nil {
		return r, fmt.Errorf("pack: %w", err)
	}
	if r.Packed, err = p.packLoose(ctx, &s); err != nil {
		return r, fmt.Errorf("pack: %w", err)
	}
	if r.Merged, err = p.merge(ctx, &s); err != nil {
		err = fmt.Errorf("merge packs: %w", err)
	}
	r.Left = p.Loose()
	s.Left, s.LeftBytes, s.At, s.Began = r.Left, p.looseBytes(time.Time{}), time.Now().UTC(), time.Time{}
	return r, errors.Join(err, p.mendMultiIndex(), p.writeState(s))
}

// Made notes packs of conversations from elsewhere, so that Pack merges them like its own. If another
// process packs, it does nothing.
func (p *Packer) Made(names []string) error {
	if len(names) == 0 {
		return nil
	}
	unlock, err := p.alone()
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	s := p.readState()
	for _, name := range names {
		pack := packRecord{Name: name}
		if packName(name) && !contains(s.Packs, pack) && p.placed(pack) {
			s.Packs = append(s.Packs, pack)
		}
	}
	s.Packs = p.present(s.Packs)
	return p.writeState(s)
}

// alone takes the lock of the only process that packs.
func (p *Packer) alone() (unlock func(), err error) {
	own, err := safefile.StateDir{GitDir: p.dir, Share: p.git.Share}.Open()
	if err != nil {
		return nil, err
	}
	defer own.Close()
	f, err := own.OpenShared(filepath.Base(p.lock), 0o666)
	if err != nil {
		return nil, err
	}
	if err := safefile.TryLock(f); err != nil {
		f.Close()
		if errors.Is(err, safefile.ErrLocked) {
			return nil, ErrBusy
		}
		return nil, err
	}
	return func() { safefile.Unlock(f) }, nil
}
