package worktree

import (
	"context"
	"fmt"
	"maps"
	gopath "path"
	"slices"

	"golang.org/x/sys/unix"
)

// Others are the files that git neither tracks nor ignores, as they were at a moment.
// What they hold is in no tree, so whoever finds one changed can tell that it was
// there, but not what it was.
type Others struct {
	at    Mark              // not later than the list
	ids   map[string]fileID // by path
	known map[fileID]struct{}
}

// fileID tells a file from others that have had its inode or its name.
type fileID struct {
	inode uint64
	born  Mark // zero where the file system does not say
}

// has says whether one of the files was this one, under any name.
func (o *Others) has(id fileID) bool {
	if o.known == nil {
		o.known = make(map[fileID]struct{}, len(o.ids))
		for id := range maps.Values(o.ids) {
			o.known[id] = struct{}{}
		}
	}
	_, ok := o.known[id]
	return ok
}

// Others lists the files that git neither tracks nor ignores. A tool may write to
// those without jp having read them.
func (w *Worktree) Others(ctx context.Context) (*Others, error) {
	if w.opts.Mode == Off || w.tooWide() {
		return nil, nil
	}
	at, err := w.Mark(ctx)
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	paths, err := (&snapshot{w: w}).untracked(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("list untracked files: %w", err)
	}
	o := &Others{at: at, ids: make(map[string]fileID, len(paths))}
	for _, p := range paths {
		if id, err := fileIDOf(w.abs(p)); err == nil {
			o.ids[p] = id
		}
	}
	return o, nil
}

// beginOthers notes the moment before the untracked files are listed anew.
func (s *snapshot) beginOthers(ctx context.Context) error {
	if s.opts.Others == nil || s.opts.Since == nil || !s.opts.Untracked {
		return nil
	}
	at, err := s.w.Mark(ctx)
	s.others = &Others{at: at, ids: map[string]fileID{}}
	return err
}

// meet keeps a file that stays out of the tree, for the next look.
func (s *snapshot) meet(path string, st *unix.Stat_t) {
	if s.others == nil {
		return
	}
	id, known := s.opts.Others.ids[path]
	if !known || id.inode != st.Ino {
		var err error
		if id, err = fileIDOf(s.w.abs(path)); err != nil {
			return
		}
	}
	s.others.ids[path] = id
}

// leaveGone notes the untracked files that are not there any more.
func (s *snapshot) leaveGone(p *plan) {
	if s.others == nil {
		return
	}
	for path := range s.opts.Others.ids {
		if _, still := s.others.ids[path]; still {
			continue
		}
		if _, err := s.w.lookup(path); absent(err) && p.first(path) {
			p.left[path] = WhyGone
		}
	}
}

// unrecorded are those of the files that are new in the tree which were there before
// the mark: under that name or another one, or made since the others were listed.
// Where it may have changed what git ignores, so are all that are older.
func (s *snapshot) unrecorded(changes []Change) []string {
	if s.others == nil {
		return nil
	}
	listed := s.opts.Others.at
	if slices.ContainsFunc(changes, func(c Change) bool { return gopath.Base(c.Path) == ".gitignore" }) {
		listed = Mark{}
	}
	var were []string
	for _, c := range changes {
		if c.Before == "" && s.opts.Others.had(c.Path, s.w.abs(c.Path), listed, *s.opts.Since) {
			were = append(were, c.Path)
		}
	}
	return were
}

// had says whether a file was there before a mark, if it is known.
func (o *Others) had(path, file string, listed, mark Mark) bool {
	if _, ok := o.ids[path]; ok {
		return true
	}
	id, err := fileIDOf(file)
	if err != nil || id.born == (Mark{}) {
		return false
	}
	return o.has(id) || !id.born.before(listed) && id.born.before(mark)
}
