package worktree

import "errors"

var (
	// ErrNoWorktree is a repository without files: bare, or a git directory.
	ErrNoWorktree = errors.New("the repository has no working tree here")
	// ErrTooWide is a working tree that is the home folder or the root of the
	// file system: a snapshot would read all that the user has.
	ErrTooWide = errors.New("the working tree is the home folder or the file system root")
	// ErrMalformed is output of git that jp cannot parse.
	ErrMalformed = errors.New("git's answer cannot be read")
	// ErrBadTree is a parent that is no tree id.
	ErrBadTree = errors.New("not a tree id")
	// ErrBadPath is a path outside of the working tree.
	ErrBadPath = errors.New("not a path inside the working tree")
)
