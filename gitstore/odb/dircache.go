package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// dirCache keeps one handle for each directory of refs. A handle may outlive its directory, since git
// removes empty ones: a caller that meets fs.ErrNotExist through one drops it and asks again.
type dirCache struct {
	mu   sync.Mutex
	open map[string]*refDir
}

// refDir is a directory of refs in use by some number of readers and writers.
type refDir struct {
	Dir
	name    string
	users   int
	dropped bool
	durable bool // the directories above it have been flushed since it was opened
}

// refDir opens a directory below refs/, link by link refused; with make it also makes missing directories.
func (s *Store) refDir(name string, make bool) (*refDir, error) {
	s.dirs.mu.Lock()
	defer s.dirs.mu.Unlock()
	if d := s.dirs.open[name]; d != nil {
		d.users++
		return d, nil
	}
	dir, err := s.walkDir(name, make)
	if err != nil {
		return nil, err
	}
	d := &refDir{Dir: dir, name: name, users: 1}
	if s.dirs.open == nil {
		s.dirs.open = map[string]*refDir{}
	}
	s.dirs.open[name] = d
	return d, nil
}

// walkDir goes down from the git directory. refs/ itself may be a link, as in
// directories made by git-new-workdir.
func (s *Store) walkDir(name string, make bool) (Dir, error) {
	if root, ok := s.root.(PathDir); ok {
		dir, err := root.OpenDirPath(name)
		if err == nil || !make && errors.Is(err, fs.ErrNotExist) {
			return dir, err
		}
	}
	parts := strings.Split(name, "/")
	dir, err := s.opts.FS.OpenDir(s.dir + "/" + parts[0])
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", parts[0], classify(err))
	}
	for i, part := range parts[1:] {
		next, err := s.stepDown(dir, part, make)
		dir.Close()
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", strings.Join(parts[:i+2], "/"), err)
		}
		dir = next
	}
	return dir, nil
}

func (s *Store) stepDown(dir Dir, name string, make bool) (Dir, error) {
	if make {
		if err := s.mkdir(dir, name); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, classify(err)
		}
	}
	next, err := dir.OpenDir(name)
	if err == nil {
		return next, nil
	}
	switch info, statErr := dir.Stat(name); {
	case statErr == nil && info.Kind == KindLink:
		return nil, fmt.Errorf("%w: a link", ErrRefSymbolic)
	case statErr == nil && info.Kind != KindDir:
		return nil, fmt.Errorf("%w: a ref has this name", ErrRefConflict)
	}
	if make {
		return nil, classify(err)
	}
	return nil, classifyRead(err)
}

// isDurable reports whether a directory has been marked since it was opened.
func (c *dirCache) isDurable(d *refDir) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return d.durable
}

func (c *dirCache) markDurable(d *refDir) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.durable = true
}

func (c *dirCache) release(d *refDir) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.users--; d.users == 0 && d.dropped {
		d.Close()
	}
}

// drop releases a handle whose directory is gone; the next user opens it again.
func (c *dirCache) drop(d *refDir) {
	c.mu.Lock()
	if c.open[d.name] == d {
		delete(c.open, d.name)
		d.dropped = true
	}
	c.mu.Unlock()
	c.release(d)
}

func (c *dirCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.open {
		d.Close()
	}
	c.open = nil
}
