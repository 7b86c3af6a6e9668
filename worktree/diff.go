package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jp/gitcmd"
)

// Change is one path that differs between two trees.
type Change struct {
	Path           string
	Status         string // "A", "M" or "D"
	Before, After  string // blob ids (a commit's for a submodule); "" where there is none
	Added, Deleted int    // lines; -1 where the content is binary, or not here, as in a partial clone
}

// Diff compares two trees, sorted by path. A renamed file is a deleted and an
// added one.
func (w *Worktree) Diff(ctx context.Context, treeA, treeB string) ([]Change, error) {
	if treeA == treeB {
		return nil, nil
	}
	raws, rest, err := w.compare(ctx, treeA, treeB, "--numstat")
	counted := !notHere(err)
	if !counted {
		raws, _, err = w.compare(ctx, treeA, treeB)
	}
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	changes := make([]Change, 0, len(raws))
	for _, r := range raws {
		changes = append(changes, r.change())
	}
	if counted {
		err = countLines(changes, rest)
	} else if len(changes) <= mostCountedApart {
		err = w.countApart(ctx, treeA, treeB, changes)
	}
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	sortChanges(changes)
	return changes, nil
}

// compare lists which files differ. That needs no content; line counts do.
func (w *Worktree) compare(ctx context.Context, treeA, treeB string, with ...string) (raws []raw, rest string, err error) {
	args := append([]string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index"}, with...)
	out, err := w.git.Run(ctx, append(args, "--end-of-options", treeA, treeB, "--")...)
	if err != nil {
		return nil, "", err
	}
	return parseRaw(string(out))
}

// mostCountedApart is in how many files the lines are counted where some of them are
// not here: each of those costs some runs of git.
const mostCountedApart = 64

// countApart counts the lines of the files that are here: git stops at the first one
// that is not, and halving finds all of them.
func (w *Worktree) countApart(ctx context.Context, treeA, treeB string, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	args := []string{"diff-tree", "-r", "-z", "--numstat", "--no-renames", "--end-of-options", treeA, treeB, "--"}
	for _, c := range changes {
		args = append(args, c.Path)
	}
	out, err := w.git.Run(ctx, args...)
	switch {
	case notHere(err) && len(changes) == 1:
		return nil
	case notHere(err):
		half := len(changes) / 2
		if err := w.countApart(ctx, treeA, treeB, changes[:half]); err != nil {
			return err
		}
		return w.countApart(ctx, treeA, treeB, changes[half:])
	case err != nil:
		return err
	}
	return countNamed(changes, string(out))
}

// countNamed is countLines for an answer that may have files below the changes, too:
// what was a file may be a folder.
func countNamed(changes []Change, out string) error {
	for _, record := range splitNUL([]byte(out)) {
		fields := strings.SplitN(record, "\t", 3)
		if len(fields) != 3 {
			return fmt.Errorf("%w: %q", ErrMalformed, record)
		}
		for i := range changes {
			if changes[i].Path == fields[2] {
				changes[i].Added, changes[i].Deleted = lineCount(fields[0]), lineCount(fields[1])
			}
		}
	}
	return nil
}

// notHere reports whether git ended because it lacks an object that a partial clone has
// left out.
func notHere(err error) bool {
	var exit *gitcmd.ExitError
	return errors.As(err, &exit) && strings.Contains(exit.Stderr, "from promisor remote")
}

// Patch is the difference of two trees as text that `git apply` takes, binary
// files included; only of the given paths where there are any.
func (w *Worktree) Patch(ctx context.Context, treeA, treeB string, paths []string) ([]byte, error) {
	args := []string{"diff-tree", "-r", "-p", "--binary", "--no-renames", "--full-index", "--src-prefix=a/",
		"--dst-prefix=b/", "--end-of-options", treeA, treeB, "--"}
	out, err := w.git.RunWith(ctx, gitcmd.Command{Args: append(args, paths...)})
	if err != nil {
		return nil, fmt.Errorf("make patch: %w", err)
	}
	return out, nil
}

func sortChanges(changes []Change) {
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
}

// raw is one line of git's raw difference.
type raw struct {
	oldMode, newMode string
	oldOID, newOID   string
	status           byte
	path             string
}

func (r raw) change() Change {
	c := Change{Path: r.path, Status: "M", Before: r.oldOID, After: r.newOID, Added: -1, Deleted: -1}
	switch r.status {
	case 'A':
		c.Status, c.Before = "A", ""
	case 'D':
		c.Status, c.After = "D", ""
	}
	return c
}

// parseRaw reads the records that begin with a colon, and returns what follows.
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

// countLines adds git's line counts, which are in the order of the changes.
func countLines(changes []Change, out string) error {
	for i := range changes {
		record, rest, ok := strings.Cut(out, "\x00")
		fields := strings.SplitN(record, "\t", 3)
		if !ok || len(fields) != 3 || fields[2] != changes[i].Path {
			return fmt.Errorf("%w: %q", ErrMalformed, record)
		}
		changes[i].Added, changes[i].Deleted = lineCount(fields[0]), lineCount(fields[1])
		out = rest
	}
	return nil
}

// lineCount reads a number; git writes "-" for binary content.
func lineCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
