// Package fs has the tools that read and change files of the workspace.
//
// A path is looked up element by element, each folder held open, so that symbolic links and replaced folders
// cannot lead an operation outside of the workspace or to protected paths: a repository's .git, jp's .jp and
// the caller's own files, in any spelling. A file that is written is replaced as a whole, by a rename in its
// folder: a reader sees the old text or the new one, and a hard link elsewhere keeps the old one, and the
// result says so. A file keeps its encoding and its ends of lines.
//
// The tools refuse binary files, change folders only by creating missing ones, and ignore commits. A hard
// link to a file outside of the workspace is that file, so the tools can read it.
package fs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jp/gitcmd"
	"jp/tool"
)

// Options of the tools. The zero value works.
type Options struct {
	// Git lists the files, without ignored ones. Its folder must be the workspace. Default: every file is
	// listed, apart from those in .git.
	Git *gitcmd.Git
	// Protected are absolute paths of files and folders that are closed to reading and writing, even before
	// they exist: the git directory if it has another name, jp's configuration, state and keys.
	Protected []string
}

// A workspace is the folder in which the tools work.
type workspace struct {
	root      *os.Root
	names     []string // the folder's absolute path, as given and without links
	git       *gitcmd.Git
	protected []protectedPath
}

// Tools returns the file tools for the workspace at root. They are safe for use
// by several goroutines.
func Tools(root string, opts Options) ([]tool.Tool, error) {
	w, err := openWorkspace(root, opts)
	if err != nil {
		return nil, fmt.Errorf("open the workspace %s: %w", root, err)
	}
	return []tool.Tool{
		w.readFile(), w.listFiles(), w.grepFiles(),
		w.createFile(), w.modifyFile(), w.deleteFile(), w.moveFile(),
	}, nil
}

func openWorkspace(root string, opts Options) (*workspace, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, err
	}
	held, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &workspace{
		root: held, names: []string{real, given}, git: opts.Git,
		protected: guard(real, opts.Protected),
	}, nil
}

// relative makes a path relative to the workspace without looking at any file.
// An absolute one must begin with the workspace's own path.
func (w *workspace) relative(name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", ErrInvalid
	}
	if !filepath.IsAbs(name) {
		return name, nil
	}
	for _, own := range w.names {
		if name == own {
			return ".", nil
		}
		if rest, ok := strings.CutPrefix(name, own+"/"); ok {
			return rest, nil
		}
	}
	return "", ErrOutside
}

// refuses reports whether an element of a path is protected. info is nil if there is no such file.
func (w *workspace) refuses(dir *os.Root, name string, info os.FileInfo, write bool) bool {
	if reserved(name, write) || info != nil && aliases(dir, info, write) {
		return true
	}
	for _, g := range w.protected {
		if g.covers(dir, name, info) {
			return true
		}
	}
	return false
}

type fileTool struct {
	def *tool.Definition
	run func(context.Context, tool.Call) (tool.Result, error)
}

func (t *fileTool) Definition() *tool.Definition { return t.def }

// Run reports errors of files to the model. Its only error is the end of ctx.
func (t *fileTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	result, err := t.run(ctx, call)
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if err != nil {
		return failure(err), nil
	}
	return result, nil
}
