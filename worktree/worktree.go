// Package worktree is the working tree as git sees it: its HEAD, its changes, its content as a tree object
// (a snapshot), and the way back to the files of a snapshot.
//
// Invariants: the package only reads the user's index and HEAD, and also the files, except those that
// Restore is told to write. It runs no program that the repository names. One path never fails a snapshot:
// if jp cannot or must not record it, it keeps the entry of the parent's tree, and is listed. Objects that
// a snapshot names are durable when it returns, or among its Objects, which its caller writes.
//
// Its callers decide when to look and which files to put back, write commits and move refs. Paths are git's
// bytes, with slashes, relative to the top level.
package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/gitstore/trees"
	"jp/internal/safefile"
)

// Mode reports whether trees are recorded.
type Mode string

const (
	// TrackedAndTools records the files that git tracks, and those that tools made.
	TrackedAndTools Mode = "tracked+tools"
	// Off turns snapshots off: each one is its parent's tree.
	Off Mode = "off"
)

// Limits of a snapshot, in bytes.
const (
	defaultNewFile    = 1 << 20
	defaultNewContent = 50 << 20
)

// Options of a Worktree. The zero value is right outside tests.
type Options struct {
	Mode       Mode           // default TrackedAndTools
	NewFile    int64          // greatest size of an untracked file; default 1 MiB
	NewContent int64          // greatest sum of changed content in one snapshot; default 50 MiB
	Home       string         // the home folder, of which jp takes no snapshot; "": there is none
	Volatile   bool           // do not wait for the disk: objects survive a kill, but not a power cut
	Ordered    bool           // the file system keeps the order of writes: one flush is enough for many objects
	Git        gitcmd.Options // how git is started
	Trees      trees.Reader   // reads and compares trees; nil: a git for each time
	// Key is the user's. It seals jp's notes about files, whose folder a confined program can write. Nil: jp believes them.
	Key func() ([]byte, error)
	// Rules asks for attributes and ignored names of this working tree. Nil: one that keeps its git until it is idle.
	Rules *gitcmd.Rules
	// Inspect returns the reason why a path with this content must not be stored, "" if it may. was is the
	// content in the parent's tree, nil if absent. Snapshot asks it about changed and new files up to 1
	// MiB. If it is nil, all may be stored.
	Inspect func(path string, was, is []byte) (why string)
	// Secret reports whether a text has a secret, which jp must keep out of its files. If it is nil, no
	// text has one.
	Secret func(text string) bool
}

// Worktree is one working tree. It may be used by several goroutines and
// beside other processes.
type Worktree struct {
	repo gitcmd.Repository
	git  *gitcmd.Git
	opts Options

	gaps   *convert.Checker
	lister *untrackedLister
	rules  *gitcmd.Rules

	flush func(*os.File) error // waits for the disk, for files and folders; tests watch it

	mu     sync.Mutex
	attrs  map[string]pathRules // by path, for the in-process snapshot
	config contentSettings
	hidden *hiddenPaths // nil: unknown yet

	looked earlierLook
}

// Open returns the working tree of a located repository, without starting a child.
func Open(_ context.Context, repo gitcmd.Repository, opts Options) (*Worktree, error) {
	if repo.TopLevel == "" {
		return nil, fmt.Errorf("open %s: %w", repo.GitDir, ErrNoWorktree)
	}
	switch opts.Mode {
	case "":
		opts.Mode = TrackedAndTools
	case TrackedAndTools, Off:
	default:
		return nil, fmt.Errorf("open %s: unknown snapshot mode %q", repo.TopLevel, opts.Mode)
	}
	if opts.NewFile == 0 {
		opts.NewFile = defaultNewFile
	}
	if opts.NewContent == 0 {
		opts.NewContent = defaultNewContent
	}
	git := gitcmd.At(repo, opts.Git)
	w := &Worktree{
		repo: repo, git: git, opts: opts, gaps: convert.New(git, repo), flush: (*os.File).Sync, attrs: map[string]pathRules{},
		looked: earlierLook{watch: &folderWatch{}},
	}
	if w.rules = opts.Rules; w.rules == nil {
		w.rules = gitcmd.NewRules(git)
	}
	w.lister = newLister(listerOptions{
		Git: git, Index: w.userIndex(), Boot: bootID(), Secret: opts.Secret,
		Now: func(ctx context.Context) (changeTime, error) {
			now, err := w.Now(ctx)
			return changeTime(now), err
		},
		Load: func() ([]byte, error) { return notes{w.stateDir()}.read(untrackedName) },
		Save: func(data []byte) { notes{w.stateDir()}.write(untrackedName, data) },
	})
	return w, nil
}

// Repository returns the working tree's repository.
func (w *Worktree) Repository() gitcmd.Repository { return w.repo }

func (w *Worktree) abs(path string) string {
	return filepath.Join(w.repo.TopLevel, filepath.FromSlash(path))
}

// state is a file of jp in this working tree's own git directory, so that
// `git worktree remove` takes it along.
func (w *Worktree) state(name string) string {
	return filepath.Join(w.repo.GitDir, safefile.StateDirName, name)
}

// openState opens a file of jp's state, and makes its folder. It follows no links. The file is the user's
// own.
func (w *Worktree) openState(name string, flag int) (*os.File, error) {
	dir, err := w.stateDir().Open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.OpenFile(name, flag, 0o600)
}

// openLock is openState for a file that all who share the repository lock.
func (w *Worktree) openLock(name string) (*os.File, error) {
	dir, err := w.stateDir().Open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.OpenShared(name, 0o600)
}

func (w *Worktree) stateDir() safefile.StateDir {
	return safefile.StateDir{GitDir: w.repo.GitDir, Share: w.git.Share, Key: w.opts.Key}
}

// notes are jp's files about the working tree, sealed if there is a key.
type notes struct{ in safefile.StateDir }

func (n notes) read(name string) ([]byte, error) {
	path := filepath.Join(n.in.GitDir, safefile.StateDirName, name)
	text, err := readRegular(path)
	if err == nil && n.in.Key != nil && !n.in.HasSeal(n.in.GitDir, name, text) {
		return nil, &safefile.SealError{Path: path}
	}
	return safefile.Unsealed(text), err
}

// write may fail: then the next snapshot looks at all files.
func (n notes) write(name string, text []byte) {
	if n.in.Key != nil {
		text = n.in.Seal(n.in.GitDir, name, text)
	}
	dir, err := n.in.Open()
	if err != nil {
		return
	}
	defer dir.Close()
	if f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err == nil {
		_, _ = f.Write(text) // a torn note is ignored
		_ = f.Close()
	}
}

// makeState makes the folder for them.
func (w *Worktree) makeState() error {
	dir, err := w.stateDir().Open()
	if err != nil {
		return err
	}
	return dir.Close()
}

// tooWide reports whether the working tree is too much to look through.
func (w *Worktree) tooWide() bool {
	top, err := os.Stat(w.repo.TopLevel)
	if err != nil {
		return false
	}
	for _, dir := range []string{w.opts.Home, string(filepath.Separator)} {
		if info, err := os.Stat(dir); dir != "" && err == nil && os.SameFile(top, info) {
			return true
		}
	}
	return false
}
