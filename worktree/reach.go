package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// folder opens the folder of a path without following links. With missing it makes missing folders on the
// way.
func (r *restoring) folder(p string, missing bool) (*os.Root, error) {
	here, err := r.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	elements := strings.Split(p, "/")
	for _, name := range elements[:len(elements)-1] {
		next, err := r.enter(here, name, missing)
		here.Close()
		if err != nil {
			return nil, err
		}
		here = next
	}
	return here, nil
}

func (r *restoring) enter(here *os.Root, name string, missing bool) (*os.Root, error) {
	info, err := here.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && missing {
		if err = here.Mkdir(name, 0o777); err == nil {
			info, err = here.Lstat(name)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, refusal(whyBlocked)
	case r.guarded.has(info):
		return nil, refusal(whyProtected)
	}
	next, err := here.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	held, err := next.Stat(".")
	if err == nil && !os.SameFile(held, info) {
		err = refusal(whyTouched)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// untouched refuses a path that has changed since the caller found it.
func (r *restoring) untouched(p WriteOp, here *os.Root) (os.FileInfo, error) {
	info, err := here.Lstat(path.Base(p.Path))
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case info != nil && info.IsDir() && p.Is.Mode != modeTree:
		return nil, refusal(whyFolder)
	case info != nil && r.guarded.has(info):
		return nil, refusal(whyProtected)
	case info != nil && p.Is == (Version{}):
		return nil, refusal(whyUnknown)
	}
	if p.Is != (Version{}) && r.w.statID(p.Path) != r.seen[p.Path] {
		return nil, refusal(whyTouched)
	}
	return info, nil
}

// unlinked notes that the file at a path has one name less. That alone changes the time of its status, so
// that its other names would look written.
func (r *restoring) unlinked(p string) {
	was := r.seen[p]
	if was.links < 2 {
		return
	}
	if r.linked == nil {
		r.linked = map[uint64][]string{}
		for other, seen := range r.seen {
			if seen.links > 1 {
				r.linked[seen.inode] = append(r.linked[seen.inode], other)
			}
		}
	}
	for _, other := range r.linked[was.inode] {
		now := r.w.statID(other)
		expected := was
		expected.links, expected.ctime = was.links-1, now.ctime
		if r.seen[other] == was && now == expected {
			r.seen[other] = now
		}
	}
}

func discard(here *os.Root, name string) error {
	if err := here.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plain(err)
	}
	return nil
}

// plain is an error without the path, which stands beside it.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
