package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"jp/gitcmd"
)

// Transaction makes, moves and deletes refs, all of them or none, through `git update-ref`. It writes no
// reflog. The objects must be durable already. When ctx ends it, only reading the refs again shows the
// outcome. If a kill or a disk error ends git between two of the refs, the others follow.
func (s *Store) Transaction(ctx context.Context, updates []RefUpdate) error {
	if err := s.checkPoison(); err != nil {
		return err
	}
	if s.opts.Git == nil {
		return fmt.Errorf("move refs: %w", ErrNoGit)
	}
	s.migrated()
	return s.refs().transaction(ctx, updates)
}

func (r fileRefs) transaction(ctx context.Context, updates []RefUpdate) error {
	s, left := r.store, updates
	err := r.update(ctx, left)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) {
		rest, again := r.resumable(updates)
		switch {
		case again:
			left = rest
			err = r.update(ctx, left)
		case rest != nil && len(rest) == 0 && exit.Code < 0: // killed when all was done
			err = nil
		}
	}
	switch {
	case errors.As(err, &exit):
		return r.explain(left, err)
	case err != nil:
		return fmt.Errorf("move refs: %w", err)
	}
	return s.syncRefs(updates)
}

// update lets git move refs.
func (r fileRefs) update(ctx context.Context, updates []RefUpdate) error {
	s := r.store
	script, err := updateScript(updates, s.opts.Format)
	if err != nil {
		return err
	}
	_, err = s.opts.Git.RunWith(ctx, gitcmd.Command{
		Args:   []string{"update-ref", "--no-deref", "--stdin"},
		Stdin:  strings.NewReader(script + "commit\n"),
		Env:    s.gitEnv(),
		Config: []string{"core.fsync=all", "core.logAllRefUpdates=false"},
	})
	return err
}

// resumable is the part of a transaction that git has left, nil if another process has moved one of its
// refs. It is worth another try if git has done a part of it, or a stale lock was in the way.
func (r fileRefs) resumable(updates []RefUpdate) (left []RefUpdate, again bool) {
	s := r.store
	left = []RefUpdate{}
	for _, u := range updates {
		found, err := s.ReadRef(u.Ref)
		switch {
		case err != nil && !errors.Is(err, ErrRefNotFound):
			return nil, false
		case found == u.Old:
			left = append(left, u)
			again = s.breakLock(u.Ref) || again
		case found != u.New:
			return nil, false
		}
	}
	part := len(left) > 0 && len(left) < len(updates)
	return left, again || part
}

// explain finds the reason of git's refusal, from the refs instead of its words.
func (r fileRefs) explain(updates []RefUpdate, cause error) error {
	s := r.store
	for _, u := range updates {
		found, err := s.ReadRef(u.Ref)
		if err != nil && !errors.Is(err, ErrRefNotFound) {
			return err
		}
		if found != u.Old {
			return &RefError{Ref: u.Ref, Want: u.Old, Found: found}
		}
	}
	if _, err := s.root.Stat(packedRefsFile + lockSuffix); err == nil {
		return fmt.Errorf("move refs: %w: %w", ErrRefsLocked, cause)
	}
	for _, u := range updates {
		if _, err := s.root.Stat(u.Ref + lockSuffix); err == nil {
			return fmt.Errorf("move %s: %w: %w", u.Ref, ErrRefLocked, cause)
		}
	}
	if err := s.probe(updates); err != nil {
		return fmt.Errorf("move refs: %w", classify(err))
	}
	return fmt.Errorf("move refs: %w", classify(withErrno(cause)))
}

// probe writes in the directories of git's new refs. git does not always give its reason.
func (s *Store) probe(updates []RefUpdate) error {
	if tables, err := s.root.OpenDir(tablesFolder); err == nil {
		defer tables.Close()
		return writeProbe(tables, ".jp.probe", "")
	}
	for _, u := range updates {
		if u.New == "" {
			continue
		}
		name, base := splitRef(u.Ref)
		dir, err := s.refDir(name, true)
		if err != nil {
			return err
		}
		err = writeProbe(dir, "."+base+".probe", u.New)
		s.dirs.release(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // git has removed the folder since
			return err
		}
	}
	return nil
}

// writeProbe makes a file that git does not take for a ref, and removes it.
func writeProbe(dir Dir, name string, oid OID) error {
	f, err := dir.Create(name, lockPerm)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(oid + "\n"))
	return errors.Join(err, f.Close(), dir.Remove(name))
}

// syncRefs flushes the directories, since git flushes only files.
func (s *Store) syncRefs(updates []RefUpdate) error {
	if s.opts.Durability == Off {
		return nil
	}
	if tables, err := s.root.OpenDir(tablesFolder); err == nil {
		err = tables.Sync()
		tables.Close()
		if err != nil {
			return s.failStop(err)
		}
		return nil
	}
	for _, u := range updates {
		if err := s.syncUp(u.Ref); err != nil {
			return s.failStop(err)
		}
	}
	if err := s.root.Sync(); err != nil {
		return s.failStop(err)
	}
	return nil
}

// syncUp flushes the directories from a ref's up to refs/, those that are left.
func (s *Store) syncUp(ref string) error {
	for dir, _ := splitRef(ref); dir != "."; dir, _ = splitRef(dir) {
		d, err := s.walkDir(dir, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = d.Sync()
		d.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
