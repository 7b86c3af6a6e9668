package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/gitcmd"
)

// record carries out a plan on the kept index, and writes the tree.
func (s *snapshot) record(ctx context.Context, p *plan) (tree string, err error) {
	if err := s.prepare(); err != nil {
		return "", err
	}
	wrote := s.w.beforeWrites()
	if err := s.apply(ctx, p); err != nil {
		return "", err
	}
	out, err := s.write(ctx, gitcmd.Command{Args: []string{"write-tree"}})
	if err != nil {
		return "", err
	}
	if err := wrote.sync(); err != nil {
		return "", fmt.Errorf("make objects durable: %w", err)
	}
	tree = strings.TrimSpace(string(out))
	s.but = nil // all of them were decided, and are in the index now
	s.w.remember(s.known, tree)
	return tree, nil
}

// prepare makes the kept index ready to be changed.
func (s *snapshot) prepare() (err error) {
	if err := s.w.forget(); err != nil || s.kept {
		return err
	}
	s.user, err = s.w.copyIndex()
	s.kept = err == nil
	return err
}

// apply changes the index by the plan. Removed names go first: a folder may have taken the place of a file.
func (s *snapshot) apply(ctx context.Context, p *plan) error {
	if err := s.setEntries(ctx, p.remove, slices.Concat(p.keep, p.restore, s.differingOf(p.take))); err != nil {
		return err
	}
	if err := errors.Join(s.update(ctx, joinNUL(p.assume), "--assume-unchanged", "--stdin"), s.update(ctx, joinNUL(p.skip), "--skip-worktree", "--stdin")); err != nil {
		return err
	}
	if len(p.unflag) > 0 {
		for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
			if err := s.update(ctx, joinNUL(p.unflag), flag, "--stdin"); err != nil {
				return err
			}
		}
	}
	var kept []string
	for filter, paths := range s.byFilter(p.take) {
		failed, err := s.tolerate(paths, func(paths []string) error {
			return s.read(ctx, paths, filter)
		})
		if err != nil {
			return err
		}
		for _, f := range failed {
			p.leave(f.Path, f.Why)
			kept = append(kept, f.Path)
		}
	}
	return s.setEntries(ctx, nil, kept)
}

// byFilter parts paths by their filters: git looks at other files, too, that changed at the same time as
// its index, and a filter that fails for one of those does no harm here.
func (s *snapshot) byFilter(paths []string) map[string][]string {
	parts := map[string][]string{}
	for _, path := range paths {
		parts[s.filters[path]] = append(parts[s.filters[path]], path)
	}
	return parts
}

// read lets git read files into the index. It fails if their filter does, which is "" for none.
func (s *snapshot) read(ctx context.Context, paths []string, filter string) error {
	_, err := s.write(ctx, gitcmd.Command{
		Args:  []string{"update-index", "-z", "--index-version", "4", "--add", "--remove", "--ignore-skip-worktree-entries", "--stdin"},
		Stdin: strings.NewReader(joinNUL(paths)), Content: true, Required: []string{filter},
	})
	return err
}

// differingOf are those of the paths at which the index may differ from the parent's tree. They must be
// equal before git reads the files: git stores a file by its entry in the index.
func (s *snapshot) differingOf(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !slices.Contains(s.but, path) })
}

// setEntries removes paths from the index, and gives others their entry in the parent's tree, or removes
// them, too.
func (s *snapshot) setEntries(ctx context.Context, remove, keep []string) error {
	if s.holds { // most are there
		keep = s.differingOf(keep)
	}
	if len(remove)+len(keep) == 0 {
		return nil
	}
	entries, err := s.parentEntries(ctx, keep)
	if err != nil {
		return err
	}
	var gone strings.Builder
	for _, path := range append(remove[:len(remove):len(remove)], keep...) {
		fmt.Fprintf(&gone, "0 %0*d\t%s\x00", s.w.repo.ObjectFormat.Digits(), 0, path)
	}
	if err := s.update(ctx, gone.String(), "--index-info"); err != nil {
		return err
	}
	// One that cannot go back, since another took its place, stays out.
	_, err = s.tolerate(keep, func(paths []string) error {
		var back strings.Builder
		for _, path := range paths {
			if entry := entries[path]; entry != "" {
				fmt.Fprintf(&back, "%s\t%s\x00", entry, path)
			}
		}
		return s.update(ctx, back.String(), "--index-info")
	})
	return err
}

// parentEntries reads "mode kind oid" of paths in the parent's tree.
func (s *snapshot) parentEntries(ctx context.Context, paths []string) (map[string]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	args := append([]string{"ls-tree", "-z", "--full-tree", s.parent, "--"}, paths...)
	out, err := s.w.git.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	entries := map[string]string{}
	for _, line := range splitNUL(out) {
		entry, path, _ := strings.Cut(line, "\t")
		if !strings.Contains(entry, " tree ") {
			entries[path] = entry
		}
	}
	return entries, nil
}

// update runs update-index, unless input is empty.
func (s *snapshot) update(ctx context.Context, input string, flags ...string) error {
	if input == "" {
		return nil
	}
	_, err := s.write(ctx, gitcmd.Command{
		Args:  append([]string{"update-index", "-z", "--index-version", "4"}, flags...),
		Stdin: strings.NewReader(input), Content: true, Required: []string{},
	})
	return err
}

// write runs a command that writes objects, which are then durable but for
// the names of their files.
func (s *snapshot) write(ctx context.Context, c gitcmd.Command) ([]byte, error) {
	// The index is only a cache. Its checksum, which it does not need, would take most of the time of
	// writing it.
	c.Config = append(c.Config, "core.splitIndex=false", "index.skipHash=true")
	switch {
	case s.w.opts.Volatile:
		c.Config = append(c.Config, "core.fsync=none")
	case s.w.opts.Ordered: // all data is written out, then flushed at once, then named
		c.Config = append(c.Config, "core.fsync=loose-object", "core.fsyncMethod=batch")
	default:
		c.Config = append(c.Config, "core.fsync=loose-object", "core.fsyncMethod=fsync")
	}
	return s.git(ctx, c)
}

// tolerate does something with all paths. If git refuses, it halves them until each refused path is alone.
// git changes nothing when it refuses one. Errors that are not about a path end it.
func (s *snapshot) tolerate(paths []string, do func([]string) error) ([]Skipped, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	err := do(paths)
	var exit *gitcmd.ExitError
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &exit) || exit.Code < 0 || storageFault(exit.Stderr):
		return nil, err
	case len(paths) == 1:
		return []Skipped{{Path: paths[0], Why: whyNoRead + firstError(exit.Stderr)}}, nil
	}
	half := len(paths) / 2
	first, err := s.tolerate(paths[:half], do)
	if err != nil {
		return nil, err
	}
	second, err := s.tolerate(paths[half:], do)
	return append(first, second...), err
}

// storageFault reports whether git failed to write, so that other paths would fail, too.
func storageFault(stderr string) bool {
	for _, sign := range []string{
		"No space left", "quota exceeded", "Read-only file system", "Input/output error", "File too large",
		"unable to create temporary file", "unable to write", "insufficient permission for adding an object",
		"fsync error", "write error", "unable to deflate", "index.lock", "index file corrupt", "Too many open files", "Cannot allocate memory",
	} {
		if strings.Contains(stderr, sign) {
			return true
		}
	}
	return false
}

func firstError(stderr string) string {
	for line := range strings.Lines(stderr) {
		for _, sign := range []string{"error: ", "fatal: "} {
			if what, found := strings.CutPrefix(strings.TrimSpace(line), sign); found {
				return what
			}
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	return line
}
