package fs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links one path may go through.
const maxLinks = 40

// An access is the purpose of looking a path up.
type access struct {
	write  bool // to change the file or folder
	follow bool // the last element may be a symbolic link
	make   bool // create missing folders on the way
	absent bool // folders on the way may be missing: only the path is wanted
}

// An openedName is one name in a folder that is held open, found without a symbolic link on the way: an
// operation on the place happens in that folder, even if the path changes meanwhile.
type openedName struct {
	dir  *os.Root
	name string      // one element; "." is the folder itself
	path string      // relative to the workspace, with slashes
	info os.FileInfo // of the name itself; nil if it does not exist

	open []*os.Root
}

// Close lets go of the folders.
func (p *openedName) Close() {
	for _, dir := range p.open {
		_ = dir.Close() // it was only read
	}
}

// find looks a path up, element by element. It refuses paths that lead outside, through links too, and
// protected ones.
func (w *workspace) find(name string, acc access) (*openedName, error) {
	s := &search{w: w, acc: acc}
	p, err := s.run(name)
	if err == nil && acc.write && namesFolder(name) && p.info != nil && !p.info.IsDir() {
		err = errNotFolder
	}
	if err != nil {
		(&openedName{open: s.dirs}).Close()
		return nil, fmt.Errorf("%s: %w", name, reason(err))
	}
	p.open = s.dirs
	return p, nil
}

// A search is one way through the folders.
type search struct {
	w     *workspace
	acc   access
	dirs  []*os.Root // every folder opened
	stack []*os.Root // the folders from below the workspace to here
	names []string   // of the folders in stack
	rest  []string   // elements to go
	links int
}

func (s *search) run(name string) (*openedName, error) {
	rel, err := s.w.relative(name)
	if err != nil {
		return nil, err
	}
	s.rest = strings.Split(rel, "/")
	for len(s.rest) > 0 {
		element := s.rest[0]
		s.rest = s.rest[1:]
		switch element {
		case "", ".":
		case "..":
			if len(s.stack) == 0 {
				return nil, ErrOutside
			}
			s.stack, s.names = s.stack[:len(s.stack)-1], s.names[:len(s.names)-1]
		default:
			if p, err := s.enter(element); p != nil || err != nil {
				return p, err
			}
		}
	}
	info, err := s.here().Stat(".")
	if err != nil {
		return nil, err
	}
	return &openedName{dir: s.here(), name: ".", path: s.at("."), info: info}, nil
}

func (s *search) here() *os.Root {
	if len(s.stack) == 0 {
		return s.w.root
	}
	return s.stack[len(s.stack)-1]
}

// at is the path of a name in the folder that was reached.
func (s *search) at(name string) string {
	return path.Join(path.Join(s.names...), name)
}

// last reports whether only empty elements follow.
func (s *search) last() bool {
	return !slices.ContainsFunc(s.rest, func(element string) bool { return element != "" && element != "." })
}

// enter takes one step. It returns a place at the end of the path.
func (s *search) enter(name string) (*openedName, error) {
	dir := s.here()
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.w.refuses(dir, name, info, s.acc.write) {
		return nil, ErrProtected
	}
	switch {
	case info == nil:
		return s.missing(name)
	case info.Mode()&fs.ModeSymlink != 0 && (s.acc.follow || !s.last()):
		return nil, s.link(name)
	case s.last():
		return &openedName{dir: dir, name: name, path: s.at(name), info: info}, nil
	}
	return nil, s.descend(name, info)
}

// missing handles a name that does not exist: the end of the path may be new.
func (s *search) missing(name string) (*openedName, error) {
	dir := s.here()
	if s.last() {
		return &openedName{dir: dir, name: name, path: s.at(name)}, nil
	}
	if !s.acc.make && !s.acc.absent {
		return nil, fs.ErrNotExist
	}
	if err := s.checkRest(); err != nil {
		return nil, err
	}
	if s.acc.absent {
		rest := path.Join(s.at(name), path.Join(s.rest...))
		return &openedName{dir: dir, name: path.Base(rest), path: rest}, nil
	}
	if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	return nil, s.descend(name, info)
}

// checkRest judges the elements below a missing folder before it is made.
func (s *search) checkRest() error {
	for _, name := range s.rest {
		if name == ".." {
			return fs.ErrNotExist
		}
		if reserved(name, s.acc.write) {
			return ErrProtected
		}
	}
	return nil
}

// link puts a symbolic link's target in its place.
func (s *search) link(name string) error {
	if s.links++; s.links > maxLinks {
		return ErrLoop
	}
	target, err := s.here().Readlink(name)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		if target, err = s.w.relative(target); err != nil {
			return err
		}
		s.stack, s.names = nil, nil
	}
	s.rest = append(strings.Split(target, "/"), s.rest...)
	return nil
}

// descend opens exactly the folder that info was read from.
func (s *search) descend(name string, info os.FileInfo) error {
	if !info.IsDir() {
		return errNotFolder
	}
	dir, err := s.here().OpenRoot(name)
	if err != nil {
		return err
	}
	s.dirs = append(s.dirs, dir)
	held, err := dir.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(held, info) {
		return ErrMoved
	}
	s.stack, s.names = append(s.stack, dir), append(s.names, name)
	return nil
}
