package untracked

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
	"jp/worktree/gitindex"
)

// Options of a Lister.
type Options struct {
	Git   *gitcmd.Git
	Index string // the user's index
	// Now is a moment as the file system of the working tree counts it: the time of a later change is equal
	// or later.
	Now func(context.Context) (Time, error)
	// Load and Save keep the last listing for another process. The saved text may be cut off.
	Load func() ([]byte, error)
	Save func([]byte)
	// Secret reports whether a text has a secret. The Lister does not save a listing that has one. If it is
	// nil, no text has one.
	Secret func(text string) bool
	// Boot names this start of the machine. A listing from before it is not used. If it is "", no saved
	// listing is.
	Boot string
}

// A Lister lists the untracked files of one working tree. It may be used by several
// goroutines.
type Lister struct {
	opts Options
	repo gitcmd.Repository

	mu     sync.Mutex
	last   *Listing // nil: none yet
	loaded bool
}

// New returns a Lister. It does not read yet.
func New(opts Options) *Lister { return &Lister{opts: opts, repo: opts.Git.Repository()} }

// List lists the files as they are now. Its error is git's.
func (l *Lister) List(ctx context.Context) (*Listing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	began, err := l.opts.Now(ctx)
	if err != nil || !timesTell(l.repo.TopLevel) {
		return l.plain(ctx)
	}
	base := l.known()
	r := &reading{l: l, began: began}
	if r.sources, err = l.sources(ctx, base); err != nil {
		return l.plain(ctx)
	}
	if base != nil && base.sources.same(r.sources) {
		if now, ok := r.refresh(ctx, base); ok {
			return l.keep(now, base), nil
		}
		r = &reading{l: l, began: began, sources: r.sources}
	}
	now, err := r.whole(ctx)
	if err != nil {
		l.last = nil
		return nil, err
	}
	return l.keep(now, base), nil
}

// plain is a listing that cannot be kept.
func (l *Lister) plain(ctx context.Context) (*Listing, error) {
	paths, err := l.ask(ctx, nil)
	if err != nil {
		return nil, err
	}
	return Of(paths), nil
}

// Ignored is [Listing.Ignored] of a listing, or as the files are now if that lacks the ignored ones. If a
// folder is unreadable, it asks git, which leaves out empty folders.
func (l *Lister) Ignored(ctx context.Context, of *Listing) (files, below, empty []string, err error) {
	if of == nil || !of.walked {
		if of, err = l.List(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	if of.walked {
		files, below, empty = of.Ignored()
		return files, below, empty, nil
	}
	out, err := l.opts.Git.RunWith(ctx, gitcmd.Command{
		Args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"},
	})
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if strings.HasSuffix(path, "/") {
			below = append(below, path)
		} else if path != "" {
			files = append(files, path)
		}
	}
	return files, append(below, of.Repositories()...), nil, err
}

// known is the base of the next listing, nil if there is none.
func (l *Lister) known() *Listing {
	if l.last == nil && !l.loaded && l.opts.Load != nil && l.opts.Boot != "" {
		if text, err := l.opts.Load(); err == nil {
			l.last = decode(text, l.opts.Boot)
		}
	}
	l.loaded = true
	return l.last
}

// keep remembers a listing, also for other processes.
func (l *Lister) keep(now, base *Listing) *Listing {
	switch {
	case !now.kept:
		l.last = nil
	case now != base:
		l.last = now
		if l.opts.Save != nil && l.opts.Boot != "" && (l.opts.Secret == nil || !l.opts.Secret(now.text())) {
			l.opts.Save(encode(now, l.opts.Boot))
		}
	}
	return now
}

// ask lets git list the untracked files at some paths, or all.
func (l *Lister) ask(ctx context.Context, paths []string) ([]string, error) {
	out, err := l.opts.Git.RunWith(ctx, gitcmd.Command{
		Args: append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--"}, paths...),
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// sources decide which files are untracked, beside the files themselves and the .gitignore in their
// folders.
type sources struct {
	config   string   // identifies the files of git's configuration
	excludes string   // the user's file of ignored names
	rules    [2]stamp // of that, and of the repository's own; zero if absent
	newest   Time     // when one of the files above changed last
	index    stamp
	tracked  string // identifies the set of paths in the index
}

// same reports whether the same files are untracked. The index may know more of its files.
func (s sources) same(o sources) bool {
	return s.config == o.config && s.excludes == o.excludes && s.rules == o.rules && s.tracked == o.tracked
}

// sources reads them. It takes unchanged ones from an earlier listing, which may be nil.
func (l *Lister) sources(ctx context.Context, base *Listing) (s sources, err error) {
	config, newest, whole := l.opts.Git.ConfigStamp()
	if config == "" {
		return s, errRules
	}
	s.config, s.newest = config, Time{newest.Unix(), int64(newest.Nanosecond())}
	if base != nil && whole && config == base.sources.config {
		s.excludes = base.sources.excludes
	} else if s.excludes, err = l.opts.Git.ExcludesFile(ctx); err != nil {
		return s, err
	}
	for i, file := range []string{s.excludes, filepath.Join(l.repo.CommonDir, "info", "exclude")} {
		var st unix.Stat_t
		if unix.Stat(file, &st) != nil {
			continue
		}
		s.rules[i] = stampOf(&st)
		if s.newest.before(s.rules[i].Changed) {
			s.newest = s.rules[i].Changed
		}
	}
	if s.index, err = l.indexStamp(); err != nil {
		return s, err
	}
	if base != nil && base.sources.index == s.index {
		s.tracked = base.sources.tracked
		return s, nil
	}
	entries, err := l.entries()
	s.tracked = hash(entries)
	return s, err
}

// indexStamp is the state of the index, zero if there is none.
func (l *Lister) indexStamp() (stamp, error) {
	var st unix.Stat_t
	switch err := unix.Lstat(l.opts.Index, &st); err {
	case nil:
		return stampOf(&st), nil
	case unix.ENOENT:
		return stamp{}, nil
	default:
		return stamp{}, err
	}
}

// errRules says that git may take rules from an unknown place, or from the index.
var errRules = errors.New("git takes rules from elsewhere")

func (l *Lister) entries() ([]gitindex.Entry, error) {
	data, err := os.ReadFile(l.opts.Index)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := gitindex.Parse(data, l.repo.ObjectFormat.Size())
	if err != nil {
		return nil, err
	}
	for i := range entries {
		if entries[i].Skip && bytes.HasSuffix(entries[i].Path, []byte(ignoreFile)) {
			return nil, errRules
		}
	}
	return entries, nil
}

// ignoreFile has the rules of a folder.
const ignoreFile = ".gitignore"

// hash identifies the paths of an index, and which of them are other repositories.
func hash(entries []gitindex.Entry) string {
	sum := sha256.New()
	w := bufio.NewWriterSize(sum, 32<<10)
	for i := range entries {
		_, _ = w.Write(entries[i].Path)
		end := byte(0)
		if entries[i].Mode == modeRepository {
			end = '/'
		}
		_ = w.WriteByte(end)
	}
	_ = w.Flush()
	return hex.EncodeToString(sum.Sum(nil))
}

// modeRepository is the mode of a submodule in an index.
const modeRepository = 0o160000
