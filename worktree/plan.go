package worktree

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// plan has the changes that make a copy of the index the snapshot.
type plan struct {
	differs bool     // the index differs from the parent's tree
	remove  []string // gone from the working tree
	take    []string // to be read from the working tree
	keep    []string // to be as in the parent's tree
	restore []string // of take: the index has another entry, which git must forget
	unflag  []string // tracked, but hidden from git by the user
	assume  []string // of keep: to stay hidden, as assume-unchanged
	skip    []string // and as skip-worktree
	// untracked are those of remove that are missing in the index, too.
	untracked []string
	left      map[string]string   // why, by path
	seen      map[string]struct{} // paths that are decided
	budget    budget
}

// nothing reports whether the snapshot is the parent's tree.
func (p *plan) nothing() bool {
	return !p.differs && len(p.remove) == 0 && len(p.take) == 0
}

// first reports whether a path is still undecided, and marks it.
func (p *plan) first(path string) bool {
	if _, done := p.seen[path]; done {
		return false
	}
	p.seen[path] = struct{}{}
	return true
}

// leave keeps a path as the parent has it, and says why.
func (p *plan) leave(path, why string) {
	p.left[path] = why
	p.keep = append(p.keep, path)
}

// decide looks at each path that the scan found. It reads no content.
func (s *snapshot) decide(ctx context.Context, found scan) (*plan, error) {
	p := &plan{
		left: map[string]string{}, seen: map[string]struct{}{},
		differs: len(found.staged) > 0, budget: budget(s.w.opts.NewContent),
	}
	if err := s.decideDiffering(ctx, p, found.dirty); err != nil {
		return nil, err
	}
	for _, r := range found.dirty {
		s.decideTracked(p, r)
	}
	for _, r := range found.staged {
		if r.status == 'D' {
			s.decideCarried(p, r.path)
		}
	}
	s.decideNamed(ctx, p, found)
	for _, r := range found.staged {
		s.decideHidden(ctx, p, r, found.flags[r.path])
	}
	for _, path := range slices.Concat(found.others, s.unlisted(found.listing)) {
		s.decideUntracked(p, path)
	}
	if err := s.decideStaged(ctx, p, found.staged); err != nil {
		return nil, err
	}
	s.leaveHidden(p, found.hidden)
	if found.blind != "" {
		p.left["."], s.others = whyBlind+found.blind, nil
	} else if s.others != nil {
		s.others.listing = found.listing
		s.leaveGone(p)
	}
	s.leaveInspected(ctx, p)
	if err := s.leaveRefused(ctx, p, found.staged); err != nil {
		return nil, err
	}
	s.leaveInside(ctx, p, found)
	return p, s.leaveFiltered(ctx, p)
}

// decideTracked is for a path that differs from the index.
func (s *snapshot) decideTracked(p *plan, r raw) {
	if !p.first(r.path) {
		return // conflicts come twice
	}
	st, err := s.w.lookup(r.path)
	switch {
	case isNotExist(err) || r.status == 'D' && err == nil:
		p.remove = append(p.remove, r.path)
	case err != nil:
		p.leave(r.path, whyNoRead+err.Error())
	default:
		s.takeKnown(p, r.path, st)
	}
}

// decideDiffering is for the paths at which the parent's tree may differ from the index, and that git may
// therefore have called unchanged.
func (s *snapshot) decideDiffering(ctx context.Context, p *plan, dirty []raw) error {
	var gone []string
	for _, path := range s.but {
		if !p.first(path) {
			continue
		}
		st, err := s.w.lookup(path)
		if isNotExist(err) || err == nil && isDir(st) {
			p.remove = append(p.remove, path)
			if !slices.ContainsFunc(dirty, func(r raw) bool { return r.path == path }) {
				gone = append(gone, path)
			}
			continue
		}
		if err != nil {
			p.leave(path, whyNoRead+err.Error())
			continue
		}
		s.takeRecorded(p, path, st)
	}
	// git calls missing files changed, unless they are hidden from it.
	var err error
	p.untracked, err = s.untrackedOf(ctx, gone)
	return err
}

// untrackedOf are those of the paths that are missing in the index.
func (s *snapshot) untrackedOf(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	tags, err := s.tags(ctx, paths)
	return slices.DeleteFunc(paths, func(path string) bool {
		_, tracked := tags[path]
		return tracked
	}), err
}

// decideCarried is for a path of the parent's tree that git does not track: it stays as long as the file
// exists. A removed one is missing in the index, too, and its content is in the parent's tree.
func (s *snapshot) decideCarried(p *plan, path string) {
	st, err := s.w.lookup(path)
	if isNotExist(err) || err == nil && isDir(st) {
		p.first(path)
		return
	}
	if err != nil || !p.first(path) {
		return
	}
	s.takeRecorded(p, path, st)
}

// takeRecorded is for a path that was recorded before, and is mostly unchanged since: it spends nothing of
// the budget for new content.
func (s *snapshot) takeRecorded(p *plan, path string, st *unix.Stat_t) {
	most := budget(s.w.opts.NewContent)
	if why := admitKnown(st, &most); why != "" {
		p.leave(path, why)
		return
	}
	p.take = append(p.take, path)
}

func (s *snapshot) takeKnown(p *plan, path string, st *unix.Stat_t) {
	if why := admitKnown(st, &p.budget); why != "" {
		p.leave(path, why)
		return
	}
	p.take = append(p.take, path)
}

// decideNamed is for the paths that a tool named: they may be hidden from git by a flag, or ignored.
func (s *snapshot) decideNamed(ctx context.Context, p *plan, found scan) {
	others := make(map[string]struct{}, len(found.others))
	for _, path := range found.others {
		others[path] = struct{}{}
	}
	for _, path := range s.opts.Named {
		tag, tracked := found.tags[path]
		_, other := others[path]
		other = other || found.listing.Has(path)
		switch {
		case tracked:
			s.decideFlagged(ctx, p, path, tag)
		case other: // with the untracked ones
		default:
			s.decideIgnored(p, path, found.blind)
		}
	}
}

// skipped reports whether a tag is that of a path with the flag skip-worktree.
func skipped(tag byte) bool { return tag == 'S' || tag == 's' }

// sparse reports whether this is a sparse checkout, in which paths with the flag skip-worktree may be
// missing. Elsewhere the user has set it, and has the files. It is asked for once: after a switch of
// branches very many of them differ.
func (s *snapshot) sparse(ctx context.Context) bool {
	if s.isSparse == nil {
		out, err := s.w.git.Run(ctx, "config", "--type=bool", "--default=false", "core.sparseCheckout")
		sparse := err != nil || strings.TrimSpace(string(out)) == "true"
		s.isSparse = &sparse
	}
	return *s.isSparse
}

// hidden reports whether this tag hides a path from git: it has that flag, or assume-unchanged.
func hidden(tag byte) bool { return skipped(tag) || tag >= 'a' && tag <= 'z' }

// decideFlagged is for a tracked path that a tool named.
func (s *snapshot) decideFlagged(ctx context.Context, p *plan, path string, tag byte) {
	if !hidden(tag) || !p.first(path) {
		return
	}
	st, err := s.w.lookup(path)
	switch {
	case isNotExist(err) && skipped(tag) && s.sparse(ctx): // it may be missing
	case isNotExist(err):
		p.remove = append(p.remove, path)
	case err != nil:
		p.leave(path, whyNoRead+err.Error())
	default:
		p.unflag = append(p.unflag, path)
		s.takeKnown(p, path, st)
	}
}

// decideHidden is for a path whose entry in the index differs from the parent's tree. If the user hid it from
// git, the index tells nothing about the file: it stays as it was recorded, unless it is missing and need not
// be there.
func (s *snapshot) decideHidden(ctx context.Context, p *plan, r raw, tag byte) {
	if !r.claims() || !hidden(tag) {
		return
	}
	_, err := s.w.lookup(r.path)
	skip := skipped(tag)
	switch {
	case skip && isNotExist(err) && s.sparse(ctx), r.status == 'A' && !isNotExist(err), !p.first(r.path):
	case r.status == 'A':
		p.remove = append(p.remove, r.path)
	case skip:
		p.keep, p.skip = append(p.keep, r.path), append(p.skip, r.path)
	default:
		p.keep, p.assume = append(p.keep, r.path), append(p.assume, r.path)
	}
}

func (s *snapshot) decideIgnored(p *plan, path, blind string) {
	st, err := s.w.lookup(path)
	if err != nil || isDir(st) || !s.since(st) || !p.first(path) {
		return
	}
	switch p.left[path] = whyIgnored; {
	case s.w.otherRepository(path) != "":
		p.left[path] = whyForeign
	case blind != "": // it may be ignored, or new
		p.left[path] = whyBlind + blind
	}
}

// decideUntracked is for an untracked file that is not ignored.
func (s *snapshot) decideUntracked(p *plan, path string) {
	if isFolder(path) { // another repository, which stays unread
		return
	}
	if _, done := p.seen[path]; done {
		return
	}
	st, err := s.w.lookup(path)
	if err != nil {
		return
	}
	if !s.since(st) && !s.appeared(path) {
		return
	}
	p.first(path)
	if why := admitNew(path, st, s.w.opts.NewFile, &p.budget); why != "" {
		p.left[path] = why
		return
	}
	p.take = append(p.take, path)
}

// since reports whether a file was written after the mark.
func (s *snapshot) since(st *unix.Stat_t) bool {
	return s.opts.Since == nil || !changed(st).before(*s.opts.Since)
}

// leaveFiltered takes out the files that need a filter that jp does not run. Without the filter their
// stored content would be wrong.
func (s *snapshot) leaveFiltered(ctx context.Context, p *plan) error {
	var files []string
	for _, path := range p.take {
		if st, err := s.w.lookup(path); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			files = append(files, path)
		}
	}
	why, filters, err := s.w.unconverted(ctx, files, true)
	s.filters = filters
	if err != nil || len(why) == 0 {
		return err
	}
	p.take = slices.DeleteFunc(p.take, func(path string) bool {
		if why[path] == "" {
			return false
		}
		p.leave(path, why[path])
		return true
	})
	return nil
}

// decideStaged is for the paths at which the index has another entry than the parent's tree
// and that git takes for unchanged since. The entry counts, but for a file with a filter:
// the person who staged it may have bypassed the filter.
func (s *snapshot) decideStaged(ctx context.Context, p *plan, staged []raw) error {
	entries := map[string]string{}
	for _, r := range staged {
		if _, decided := p.seen[r.path]; !decided && r.claims() && strings.HasPrefix(r.newMode, "100") {
			entries[r.path] = r.newOID
		}
	}
	if len(entries) == 0 {
		return nil
	}
	if may, err := s.mayFilter(ctx, entries, staged); err != nil || !may {
		return err
	}
	state, err := s.w.State(ctx)
	if err != nil {
		return err
	}
	wrong, err := s.w.gaps.Staged(ctx, entries, state.Head)
	if err != nil {
		return err
	}
	for path, gap := range wrong.Gaps {
		if p.first(path) {
			p.leave(path, gap.Why())
		}
	}
	for path := range wrong.Unsure {
		st, err := s.w.lookup(path)
		if err != nil || isDir(st) || !p.first(path) {
			continue
		}
		s.takeKnown(p, path, st)
		p.restore = append(p.restore, path)
	}
	return nil
}

// mayFilter reports whether one of the paths may have a filter. In a repository without filters it only
// reads files.
func (s *snapshot) mayFilter(ctx context.Context, entries map[string]string, staged []raw) (bool, error) {
	for _, r := range staged {
		if rulesFile(r.path) {
			return true, nil
		}
	}
	if untrusted, err := s.w.git.UntrustedFilters(ctx); err != nil || len(untrusted) > 0 {
		return true, err
	}
	if s.w.git.AttributesElsewhere() || namesFilter(filepath.Join(s.w.repo.CommonDir, "info", "attributes")) {
		return true, nil
	}
	seen := map[string]bool{}
	for path := range entries {
		for dir := filepath.Dir(path); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if namesFilter(filepath.Join(s.w.abs(dir), ".gitattributes")) {
				return true, nil
			}
		}
	}
	return false, nil
}

// namesFilter reports whether a file of attributes has the name of a filter, or a macro.
func namesFilter(file string) bool {
	text, err := readRegular(file)
	return err == nil && (bytes.Contains(text, []byte("filter")) || bytes.Contains(text, []byte("lfs")))
}

// stale lists the skipped paths that are in the tree as the parent has them.
func (p *plan) stale() []string {
	return slices.DeleteFunc(slices.Clone(p.keep), func(path string) bool {
		_, left := p.left[path]
		return !left
	})
}

// leftOut lists the skipped paths, sorted.
func (p *plan) leftOut() []Skipped {
	var list []Skipped
	for _, path := range slices.Sorted(maps.Keys(p.left)) {
		list = append(list, Skipped{Path: path, Why: p.left[path]})
	}
	return list
}
