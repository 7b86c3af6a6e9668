package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"jp/gitcmd"
)

// scan are git's findings about the working tree, an index and the parent's tree.
type scan struct {
	dirty      []raw             // working tree against index
	staged     []raw             // index against the parent's tree
	others     []string          // untracked files without ignored ones: the named ones
	listing    *untrackedListing // all of them, after a tool
	blind      string            // why those could not be listed, else ""
	tags       map[string]byte   // of the named paths that are tracked: ls-files -v
	flags      map[string]byte   // of all, if staged has other content of some
	submodules []string          // after a tool
	hidden     *hiddenPaths      // after a tool: those that the user hid from git
}

// contentCommand is a command that reads files as git would record them.
func contentCommand(args ...string) gitcmd.Command {
	return gitcmd.Command{Args: args, Content: true}
}

// scan asks in parallel, without changes.
func (s *snapshot) scan(ctx context.Context) (scan, error) {
	var found scan
	asks := []func() error{
		func() (err error) { found.dirty, err = s.dirty(ctx); return },
	}
	if !s.holds {
		asks = append(asks, func() (err error) {
			found.staged, err = s.rawDiff(ctx, "diff-index", "--cached", "-z", "--raw", "--no-renames", s.parent, "--")
			return
		})
	}
	if len(s.opts.Named) > 0 {
		asks = append(asks, func() (err error) { found.tags, err = s.tags(ctx, s.opts.Named); return })
	}
	if all := s.opts.Untracked && s.opts.Since != nil; all || len(s.opts.Named) > 0 {
		asks = append(asks, func() (err error) {
			if all {
				found.listing, err = s.list(ctx)
			} else {
				found.others, err = s.untracked(ctx, s.opts.Named)
			}
			if found.blind = refused(err); found.blind != "" {
				return nil
			}
			return err
		})
	}
	if s.opts.Untracked && s.opts.Since != nil {
		asks = append(asks, func() (err error) { found.hidden, err = s.hidden(ctx); return })
		asks = append(asks, func() (err error) { found.submodules, err = s.submodules(ctx); return })
	}
	errs := make([]error, len(asks))
	var wg sync.WaitGroup
	for i, ask := range asks {
		wg.Go(func() { errs[i] = ask() })
	}
	wg.Wait()
	err := errors.Join(errs...)
	if err == nil && slices.ContainsFunc(found.staged, raw.claims) {
		found.flags, err = s.tags(ctx, nil)
	}
	if err != nil {
		return scan{}, fmt.Errorf("look at working tree: %w", err)
	}
	return found, nil
}

// claims reports whether the index has other content at the path than the tree, or
// alone has some.
func (r raw) claims() bool { return r.status == 'M' || r.status == 'T' || r.status == 'A' }

// dirty compares the working tree with the index. git does that at the paths about which jp is unsure.
func (s *snapshot) dirty(ctx context.Context) ([]raw, error) {
	args := []string{"diff-files", "-z", "--raw"}
	index := s.w.userIndex()
	if s.kept {
		index = s.w.keptIndex()
	}
	paths, modes, ok := s.w.suspects(ctx, index, s.opts)
	s.modes = modes
	if ok {
		if len(paths) == 0 {
			return nil, ctx.Err()
		}
		args = append(append(args, "--"), paths...)
	}
	return s.rawDiff(ctx, args...)
}

func (s *snapshot) rawDiff(ctx context.Context, args ...string) ([]raw, error) {
	out, err := s.git(ctx, contentCommand(args...))
	if err != nil {
		return nil, err
	}
	records, rest, err := parseRaw(string(out))
	if err == nil && rest != "" {
		err = fmt.Errorf("%s: %w", args[0], ErrMalformed)
	}
	return records, err
}

func (s *snapshot) untracked(ctx context.Context, paths []string) ([]string, error) {
	args := append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--"}, paths...)
	out, err := s.git(ctx, gitcmd.Command{Args: args})
	if err != nil {
		return nil, err
	}
	return splitNUL(out), nil
}

// refused is git's reason why it could not list files, "" for any other error. In a sparse partial clone it
// would have to fetch rules for ignored files. It can still tell the tracked ones.
func refused(err error) string {
	var exit *gitcmd.ExitError
	if !errors.As(err, &exit) || exit.Code <= 0 {
		return ""
	}
	return cmp.Or(firstError(exit.Stderr), exit.Error())
}

// tags finds those of the paths that git tracks, or all that it does, with their
// flags.
func (s *snapshot) tags(ctx context.Context, paths []string) (map[string]byte, error) {
	args := append([]string{"ls-files", "-z", "-v", "--"}, paths...)
	out, err := s.git(ctx, gitcmd.Command{Args: args})
	if err != nil {
		return nil, err
	}
	tags := map[string]byte{}
	for _, line := range splitNUL(out) {
		if len(line) > 2 {
			tags[line[2:]] = line[0]
		}
	}
	return tags, nil
}

func splitNUL(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// joinNUL is the form in which git reads paths from its standard input.
func joinNUL(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(p)
		b.WriteByte(0)
	}
	return b.String()
}
