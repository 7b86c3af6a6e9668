package worktree

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
)

// listerOptions of a Lister.
type listerOptions struct {
	Git   *gitcmd.Git
	Index string // the user's index
	// Now is a moment as the file system of the working tree counts it: the time of a later change is equal
	// or later.
	Now func(context.Context) (changeTime, error)
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

// An untrackedLister lists the untracked files of one working tree without the ignored ones, and reads again only the
// folders that changed since it last looked. It may be used by several goroutines.
//
// git decides which files are untracked. The lister keeps its answer together with the state of each
// folder, of each file of rules and of the index. It asks git about new names. If a state says too little,
// git lists everything once more: if a file of rules or the set of tracked paths changed, if the times of
// the file system are unreliable, and if a repository lies inside of another in a way that only git can
// judge.
//
// It leaves the content of files unread, and writes only its copy of the list.
type untrackedLister struct {
	opts listerOptions
	repo gitcmd.Repository

	mu     sync.Mutex
	last   *untrackedListing // nil: none yet
	loaded bool
}

// newLister returns a Lister. It does not read yet.
func newLister(opts listerOptions) *untrackedLister {
	return &untrackedLister{opts: opts, repo: opts.Git.Repository()}
}

// List lists the files as they are now. Its error is git's.
func (l *untrackedLister) List(ctx context.Context) (*untrackedListing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	began, err := l.opts.Now(ctx)
	if err != nil || !folderTimesReliable(l.repo.TopLevel) {
		return l.plain(ctx)
	}
	base := l.known()
	r := &folderReading{l: l, began: began}
	if r.sources, err = l.sources(ctx, base); err != nil {
		return l.plain(ctx)
	}
	if base != nil && base.sources.same(r.sources) {
		if now, ok := r.refresh(ctx, base); ok {
			return l.keep(now, base), nil
		}
		r = &folderReading{l: l, began: began, sources: r.sources}
	}
	now, err := r.whole(ctx)
	if err != nil {
		l.last = nil
		return nil, err
	}
	return l.keep(now, base), nil
}

// plain is a listing that cannot be kept.
func (l *untrackedLister) plain(ctx context.Context) (*untrackedListing, error) {
	paths, err := l.ask(ctx, nil)
	if err != nil {
		return nil, err
	}
	return listingOf(paths), nil
}

// ignored is [untrackedListing.ignored] of a listing, or as the files are now if that lacks the ignored ones. If a
// folder is unreadable, it asks git, which leaves out empty folders.
func (l *untrackedLister) ignored(ctx context.Context, of *untrackedListing) (files, below, empty []string, err error) {
	if of == nil || !of.walked {
		if of, err = l.List(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	if of.walked {
		files, below, empty = of.ignored()
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
	return files, append(below, of.repositories()...), nil, err
}

// known is the base of the next listing, nil if there is none.
func (l *untrackedLister) known() *untrackedListing {
	if l.last == nil && !l.loaded && l.opts.Load != nil && l.opts.Boot != "" {
		if text, err := l.opts.Load(); err == nil {
			l.last = decodeListing(text, l.opts.Boot)
		}
	}
	l.loaded = true
	return l.last
}

// keep remembers a listing, also for other processes.
func (l *untrackedLister) keep(now, base *untrackedListing) *untrackedListing {
	switch {
	case !now.kept:
		l.last = nil
	case now != base:
		l.last = now
		if l.opts.Save != nil && l.opts.Boot != "" && (l.opts.Secret == nil || !l.opts.Secret(now.text())) {
			l.opts.Save(encodeListing(now, l.opts.Boot))
		}
	}
	return now
}

// ask lets git list the untracked files at some paths, or all.
func (l *untrackedLister) ask(ctx context.Context, paths []string) ([]string, error) {
	out, err := l.opts.Git.RunWith(ctx, gitcmd.Command{
		Args: append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--"}, paths...),
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// ruleSources decide which files are untracked, beside the files themselves and the .gitignore in their
// folders.
type ruleSources struct {
	config   string         // identifies the files of git's configuration
	excludes string         // the user's file of ignored names
	rules    [2]folderStamp // of that, and of the repository's own; zero if absent
	newest   changeTime     // when one of the files above changed last
	index    folderStamp
	tracked  string // identifies the set of paths in the index
}

// same reports whether the same files are untracked. The index may know more of its files.
func (s ruleSources) same(o ruleSources) bool {
	return s.config == o.config && s.excludes == o.excludes && s.rules == o.rules && s.tracked == o.tracked
}

// sources reads them. It takes unchanged ones from an earlier listing, which may be nil.
func (l *untrackedLister) sources(ctx context.Context, base *untrackedListing) (s ruleSources, err error) {
	config, newest, whole := l.opts.Git.ConfigStamp()
	if config == "" {
		return s, errRules
	}
	s.config, s.newest = config, changeTime{newest.Unix(), int64(newest.Nanosecond())}
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
		s.rules[i] = folderStampOf(&st)
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
	s.tracked = hashEntries(entries)
	return s, err
}

// indexStamp is the state of the index, zero if there is none.
func (l *untrackedLister) indexStamp() (folderStamp, error) {
	var st unix.Stat_t
	switch err := unix.Lstat(l.opts.Index, &st); err {
	case nil:
		return folderStampOf(&st), nil
	case unix.ENOENT:
		return folderStamp{}, nil
	default:
		return folderStamp{}, err
	}
}

// errRules says that git may take rules from an unknown place, or from the index.
var errRules = errors.New("git takes rules from elsewhere")

func (l *untrackedLister) entries() ([]indexEntry, error) {
	data, err := os.ReadFile(l.opts.Index)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := parseIndex(data, l.repo.ObjectFormat.Size())
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

// hashEntries identifies the paths of an index, and which of them are other repositories.
func hashEntries(entries []indexEntry) string {
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
