// Package trees reads trees and compares them, for the commands that show or explain files: diff,
// blame, log, undo, fork.
//
// [Reader] is the port. [NewGoGit] reads in process, with go-git over the objects of the
// store. [NewGit] asks a live git, which knows every object format. One contract holds for
// both: paths and names are git's bytes, modes are as git shows them, and answers are
// bounded. The line numbers of a difference and its text are git's, see package worktree.
package trees

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"jp/gitcmd"
)

var (
	// ErrMissing means that the repository lacks an object, as in a partial clone.
	ErrMissing = errors.New("object is missing")
	// ErrMalformed is an object of another kind, or one that git would refuse.
	ErrMalformed = errors.New("object is malformed")
	// ErrTooLarge is an answer above the bounds of this package.
	ErrTooLarge = errors.New("trees are too large")
)

// Modes of entries, as git shows them.
const (
	ModeFolder    = "040000"
	ModeFile      = "100644"
	ModeExec      = "100755"
	ModeLink      = "120000"
	ModeSubmodule = "160000"
)

// Entry is one name in a tree.
type Entry struct {
	Name string
	Version
}

// Version is the entry of a path in a tree. The zero Version is a missing path.
type Version struct {
	Mode string // one of those above
	OID  string // of the blob or tree; of the commit for a submodule
}

// Change is a path that differs between two trees. A renamed file is a deleted and an
// added one.
type Change struct {
	Path          string
	Before, After Version
}

// Objects are the objects of a repository. A missing object is an error.
type Objects interface {
	ReadObject(oid string) (kind string, data []byte, err error)
}

// A Reader reads trees and blobs of one repository. Several goroutines may use it.
type Reader interface {
	// Tree returns the entries of one folder, in git's order.
	Tree(ctx context.Context, oid string) ([]Entry, error)
	// DiffTrees compares two trees with all their folders, sorted by path.
	DiffTrees(ctx context.Context, before, after string) ([]Change, error)
	// Blob returns the content of a file or link.
	Blob(ctx context.Context, oid string) ([]byte, error)
	// Close frees the Reader's memory and processes. A Reader that is used again starts from nothing.
	Close() error
}

// Open returns the Reader for a repository: go-git has one digest size per binary.
func Open(repo gitcmd.Repository, git *gitcmd.Git, objects Objects) Reader {
	if repo.ObjectFormat != gitcmd.SHA256 {
		return NewGoGit(objects)
	}
	return NewGit(git)
}

// Bounds of one answer. A hostile tree can name the same folder a billion times.
const (
	maxDepth    = 2048       // folders in each other; git's own bound
	maxElements = 16_000_000 // names of all paths together
	maxBytes    = 256 << 20  // of an object
)

// budget is the rest of maxElements.
type budget int

// take accounts for entries at a depth.
func (b *budget) take(entries, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: more than %d folders in each other", ErrTooLarge, maxDepth)
	}
	if *b -= budget(entries * (depth + 1)); *b < 0 {
		return fmt.Errorf("%w: more than %d names", ErrTooLarge, maxElements)
	}
	return nil
}

// Find returns the entry of a path in a tree, which may be a folder.
func Find(ctx context.Context, r Reader, tree, path string) (Version, error) {
	if tree == "" {
		return Version{}, nil
	}
	for at := tree; ; {
		name, rest, deeper := strings.Cut(path, "/")
		entries, err := r.Tree(ctx, at)
		if err != nil {
			return Version{}, err
		}
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
		switch {
		case i < 0 || deeper && entries[i].Mode != ModeFolder:
			return Version{}, nil
		case !deeper:
			return entries[i].Version, nil
		}
		at, path = entries[i].OID, rest
	}
}

// Files returns the files at paths in a tree, with links and submodules. The map leaves out folders and
// missing paths.
func Files(ctx context.Context, r Reader, tree string, paths []string) (map[string]Version, error) {
	found := map[string]Version{}
	for _, path := range paths {
		v, err := Find(ctx, r, tree, path)
		if err != nil {
			return nil, fmt.Errorf("read tree %.10s: %w", tree, err)
		}
		if v != (Version{}) && v.Mode != ModeFolder {
			found[path] = v
		}
	}
	return found, nil
}

// DiffChain compares each tree with the one before it: element i has the differences between trees i and
// i+1.
func DiffChain(ctx context.Context, r Reader, ids []string) ([][]Change, error) {
	steps := make([][]Change, max(0, len(ids)-1))
	for i := range steps {
		if ids[i] == ids[i+1] {
			continue
		}
		var err error
		if steps[i], err = r.DiffTrees(ctx, ids[i], ids[i+1]); err != nil {
			return nil, fmt.Errorf("compare trees %.10s and %.10s: %w", ids[i], ids[i+1], err)
		}
	}
	return steps, nil
}

func sortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
}
