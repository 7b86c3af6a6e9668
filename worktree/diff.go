package worktree

import (
	"context"
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
	Added, Deleted int    // lines; -1 where the content is binary
}

// Diff compares two trees, sorted by path. A renamed file is a deleted and an
// added one.
func (w *Worktree) Diff(ctx context.Context, treeA, treeB string) ([]Change, error) {
	if treeA == treeB {
		return nil, nil
	}
	out, err := w.git.Run(ctx, "diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames",
		"--full-index", "--end-of-options", treeA, treeB, "--")
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	raws, rest, err := parseRaw(string(out))
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	changes := make([]Change, 0, len(raws))
	for _, r := range raws {
		changes = append(changes, r.change())
	}
	if err := countLines(changes, rest); err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	sortChanges(changes)
	return changes, nil
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
	c := Change{Path: r.path, Status: "M", Before: r.oldOID, After: r.newOID}
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
