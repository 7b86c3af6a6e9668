package worktree

import "context"

// mostHidden is the number of hidden paths that are looked at one by one. A sparse checkout has more of
// them, and few of those are there.
const mostHidden = 2000

// hiddenPaths are the paths with the flags assume-unchanged or skip-worktree in the
// user's index, as long as that is the same.
type hiddenPaths struct {
	index identity
	paths []string
	there map[string]struct{} // those that were there at the last look
}

// hidden lists those paths, mostly from memory.
func (s *snapshot) hidden(ctx context.Context) (*hiddenPaths, error) {
	s.w.mu.Lock()
	known := s.w.hidden
	s.w.mu.Unlock()
	if known != nil && known.index == s.user && s.user != (identity{}) {
		return known, nil
	}
	tags, err := (&snapshot{w: s.w}).tags(ctx, nil)
	if err != nil {
		return nil, err
	}
	found := &hiddenPaths{index: s.user}
	for path, tag := range tags {
		if hidden(tag) {
			found.paths = append(found.paths, path)
		}
	}
	if len(found.paths) > mostHidden {
		found.paths = nil
	}
	return found, nil
}

// meetHidden keeps which of them are there, for the look after a tool, and gives them.
func (s *snapshot) meetHidden(found *hiddenPaths) map[string]struct{} {
	now := &hiddenPaths{index: found.index, paths: found.paths, there: map[string]struct{}{}}
	for _, path := range found.paths {
		if st, err := s.w.lookup(path); err == nil && !isDir(st) {
			now.there[path] = struct{}{}
		}
	}
	s.w.mu.Lock()
	s.w.hidden = now
	s.w.mu.Unlock()
	return now.there
}

// leaveHidden notes a tool's changes to paths that the user hid from git, and that the tool did not name: their
// content is the user's own, and stays unread.
func (s *snapshot) leaveHidden(p *plan, found *hiddenPaths) {
	if found == nil {
		return
	}
	for _, path := range found.paths {
		if _, decided := p.seen[path]; decided {
			continue
		}
		_, was := found.there[path]
		st, err := s.w.lookup(path)
		switch {
		case err == nil && !isDir(st) && s.since(st):
			p.left[path] = whyHidden
		case isNotExist(err) && was:
			p.left[path] = WhyGone
		}
	}
	s.meetHidden(found)
}
