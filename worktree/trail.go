package worktree

import (
	"context"
	"fmt"
	"strings"

	"jp/gitcmd"
)

// Version is what a path is in a tree. The zero Version is a path that is not
// there.
type Version struct {
	Mode string // as git writes it: "100644", "100755", "120000" or "160000"
	OID  string // of the blob; of the commit for a submodule
}

// Step is a path that differs between one tree and the next.
type Step struct {
	Path          string
	Before, After Version
}

// Trail compares each tree with the one before it: element i has what differs
// between trees i and i+1. It starts one child, however many trees there are.
func (w *Worktree) Trail(ctx context.Context, trees []string) ([][]Step, error) {
	steps := make([][]Step, max(0, len(trees)-1))
	var input strings.Builder
	var asked []int
	for i := range steps {
		if trees[i] != trees[i+1] {
			fmt.Fprintf(&input, "%s %s\n", trees[i], trees[i+1])
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return steps, nil
	}
	out, err := w.git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--full-index"},
		Stdin: strings.NewReader(input.String()),
	})
	if err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	rest := string(out)
	for _, i := range asked {
		after, ok := strings.CutPrefix(rest, trees[i]+" "+trees[i+1]+"\n")
		if !ok {
			return nil, fmt.Errorf("compare trees %.10s and %.10s: %w", trees[i], trees[i+1], ErrMalformed)
		}
		var records []raw
		if records, rest, err = parseRaw(after); err != nil {
			return nil, fmt.Errorf("compare trees: %w", err)
		}
		for _, r := range records {
			steps[i] = append(steps[i], r.step())
		}
	}
	return steps, nil
}

func (r raw) step() Step {
	s := Step{Path: r.path, Before: Version{r.oldMode, r.oldOID}, After: Version{r.newMode, r.newOID}}
	switch r.status {
	case 'A':
		s.Before = Version{}
	case 'D':
		s.After = Version{}
	}
	return s
}

// Versions are what paths are in a tree, or in that of a commit. A path that is not there
// is not in the map.
func (w *Worktree) Versions(ctx context.Context, tree string, paths []string) (map[string]Version, error) {
	versions := map[string]Version{}
	if len(paths) == 0 {
		return versions, nil
	}
	wanted := make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[p] = true
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree", tree}
	if len(paths) <= mostNamed {
		args = append(append(args, "--"), paths...)
	}
	out, err := w.git.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read tree %.10s: %w", tree, err)
	}
	for _, line := range splitNUL(out) {
		entry, path, _ := strings.Cut(line, "\t")
		words := strings.Fields(entry)
		if len(words) == 3 && wanted[path] {
			versions[path] = Version{Mode: words[0], OID: words[2]}
		}
	}
	return versions, nil
}
