package odb

import (
	"errors"
	"fmt"

	"jp/gitcmd"
)

// share gives a new file, which has no name for others yet, the mode that git gives it in a shared
// repository. On a file system without modes it changes nothing.
func (s *Store) share(f File) error { return s.giveMode(f, false) }

// mkdir makes a folder, as git would in a repository that is shared. One that is there
// keeps its mode.
func (s *Store) mkdir(parent Dir, name string) error {
	if err := parent.Mkdir(name); err != nil {
		return err
	}
	if sharing, err := s.sharing(); err != nil || sharing == gitcmd.ShareUmask {
		return err
	}
	dir, err := parent.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(s.giveMode(dir, true), dir.Close())
}

// sharing tells with whom the repository is shared. A Store without git does not know.
func (s *Store) sharing() (gitcmd.Sharing, error) {
	if s.opts.Git == nil {
		return gitcmd.ShareUmask, nil
	}
	return s.opts.Git.Sharing()
}

func (s *Store) giveMode(made any, dir bool) error {
	sharing, err := s.sharing()
	if err != nil || sharing == gitcmd.ShareUmask {
		return err
	}
	m, ok := made.(moder)
	if !ok {
		return nil
	}
	was, err := m.Mode()
	if err == nil && sharing.Perm(was, dir) != was {
		err = m.SetMode(sharing.Perm(was, dir))
	}
	if err != nil {
		return fmt.Errorf("share what was made: %w", err)
	}
	return nil
}
