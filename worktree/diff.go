package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jp/gitcmd"
	"jp/gitstore/trees"
)

// Change is one path that differs between two trees.
type Change struct {
	Path           string
	Status         string // "A", "M" or "D"
	Before, After  string // blob ids (a commit's for a submodule); "" if absent
	Added, Deleted int    // lines; -1 if the content is binary, or missing, as in a partial clone
}

// Version is the entry of a path in a tree. The zero Version is a missing path.
type Version = trees.Version

// Step is a path that differs between one tree and the next.
type Step = trees.Change

// Compare compares two trees, sorted by path, without counting lines. A renamed file is a deleted and an
// added one.
func (w *Worktree) Compare(ctx context.Context, treeA, treeB string) ([]Change, error) {
	r, done := w.reader()
	defer done()
	steps, err := r.DiffTrees(ctx, treeA, treeB)
	if err != nil {
		return nil, err
	}
	return changesOf(steps), nil
}

// Diff is Compare with the line counts of git, whose attributes mark binary files.
func (w *Worktree) Diff(ctx context.Context, treeA, treeB string) ([]Change, error) {
	r, done := w.reader()
	defer done()
	steps, err := r.DiffTrees(ctx, treeA, treeB)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	changes := changesOf(steps)
	err = w.countLines(ctx, treeA, treeB, changes, nil)
	if notHere(err) {
		err = w.countHere(ctx, r, treeA, treeB, steps, changes)
	}
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	return changes, nil
}

// reader is Options.Trees, or a git that lives until it is done.
func (w *Worktree) reader() (r trees.Reader, done func()) {
	if w.opts.Trees != nil {
		return w.opts.Trees, func() {}
	}
	r = trees.NewGit(w.git)
	return r, func() { _ = r.Close() } // all its questions are answered
}

func changesOf(steps []Step) []Change {
	changes := make([]Change, 0, len(steps))
	for _, s := range steps {
		c := Change{Path: s.Path, Status: "M", Before: s.Before.OID, After: s.After.OID, Added: -1, Deleted: -1}
		switch {
		case s.Before == (Version{}):
			c.Status = "A"
		case s.After == (Version{}):
			c.Status = "D"
		}
		changes = append(changes, c)
	}
	return changes
}

// countLines adds git's line counts, of some paths or of all.
func (w *Worktree) countLines(ctx context.Context, treeA, treeB string, changes []Change, paths []string) error {
	args := []string{"diff-tree", "-r", "-z", "--numstat", "--no-renames", "--ignore-submodules=none", "--end-of-options", treeA, treeB, "--"}
	out, err := w.git.Run(ctx, append(args, paths...)...)
	if err != nil {
		return err
	}
	for _, record := range splitNUL(out) {
		fields := strings.SplitN(record, "\t", 3)
		if len(fields) != 3 {
			return fmt.Errorf("%w: %q", ErrMalformed, record)
		}
		i, found := slices.BinarySearchFunc(changes, fields[2], func(c Change, path string) int { return strings.Compare(c.Path, path) })
		if found {
			changes[i].Added, changes[i].Deleted = lineCount(fields[0]), lineCount(fields[1])
		}
	}
	return nil
}

// mostCountedApart is the number of files whose lines are counted if some of them are missing here: each is
// read to find out.
const mostCountedApart = 64

// countHere counts the lines of the files that are here: git stops at the first missing one.
func (w *Worktree) countHere(ctx context.Context, r trees.Reader, treeA, treeB string, steps []Step, changes []Change) error {
	if len(changes) > mostCountedApart {
		return nil
	}
	var here, missing []string
	for _, s := range steps {
		if isHere(ctx, r, s.Before) && isHere(ctx, r, s.After) {
			here = append(here, s.Path)
		} else {
			missing = append(missing, s.Path)
		}
	}
	here = slices.DeleteFunc(here, func(path string) bool { // a folder may be in a file's place
		return slices.ContainsFunc(missing, func(m string) bool { return strings.HasPrefix(m, path+"/") })
	})
	if len(here) == 0 {
		return ctx.Err()
	}
	return w.countLines(ctx, treeA, treeB, changes, here)
}

// isHere reports whether the content of a version can be read.
func isHere(ctx context.Context, r trees.Reader, v Version) bool {
	if v == (Version{}) || v.Mode == modeSub {
		return true
	}
	_, err := r.Blob(ctx, v.OID)
	return err == nil
}

// notHere reports whether git ended because it lacks an object that a partial clone has
// left out.
func notHere(err error) bool {
	var exit *gitcmd.ExitError
	return errors.As(err, &exit) && exit.LeftOut()
}

// Patch is the difference of two trees as text that `git apply` takes, binary files included; only of the
// given paths if there are any. For a program, names are ASCII: git writes other characters as numbers.
func (w *Worktree) Patch(ctx context.Context, treeA, treeB string, paths []string, program bool) ([]byte, error) {
	args := []string{"diff-tree", "-r", "-p", "--binary", "--no-renames", "--ignore-submodules=none", "--full-index", "--src-prefix=a/",
		"--dst-prefix=b/", "--end-of-options", treeA, treeB, "--"}
	c := gitcmd.Command{Args: append(args, paths...)}
	if program {
		c.Config = []string{"core.quotePath=true"}
	}
	out, err := w.git.RunWith(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("make patch: %w", err)
	}
	return out, nil
}

// raw is one line of git's raw difference.
type raw struct {
	oldMode, newMode string
	oldOID, newOID   string
	status           byte
	path             string
}

// parseRaw reads the records that begin with a colon, and returns the rest.
func parseRaw(out string) (records []raw, rest string, err error) {
	for strings.HasPrefix(out, ":") {
		head, tail, ok1 := strings.Cut(out, "\x00")
		path, tail, ok2 := strings.Cut(tail, "\x00")
		fields := strings.Split(head[1:], " ")
		if !ok1 || !ok2 || len(fields) != 5 || fields[4] == "" || path == "" {
			return nil, "", fmt.Errorf("%w: %q", ErrMalformed, head)
		}
		records = append(records, raw{
			oldMode: fields[0], newMode: fields[1], oldOID: fields[2], newOID: fields[3],
			status: fields[4][0], path: path,
		})
		out = tail
	}
	return records, out, nil
}

// lineCount reads a number; git writes "-" for binary content.
func lineCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

func sortChanges(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
}
