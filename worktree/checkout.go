package worktree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/gitcmd"
	"jp/gitstore/trees"
)

// CameWithHead are git's own changes to files when HEAD went from one commit to another after the time
// since: by path, the version of the first commit and the one that came. The version that came is that of
// the newest earlier commit below the new HEAD, with the results of merges of such commits since, and with
// the changes of older commits that a rebase repeats on it. Other commits since then were made of the
// files: their other changes did not come with HEAD. The commits' dates decide, in whole seconds. Within
// the second of since, the time at which git stored the commit decides, unless it is in a pack. from is ""
// before the first commit. Missing commits are skipped.
func (w *Worktree) CameWithHead(ctx context.Context, from, to string, since time.Time) (map[string]Step, error) {
	if from != "" && !isOID(from) || !isOID(to) {
		return nil, nil
	}
	h, err := w.headMove(ctx, from, to, since)
	if err != nil || h == nil {
		return nil, err
	}
	var compared []comparison
	compare := func(a, b string, as role) { compared = append(compared, comparison{a, b, as}) }
	compare(h.tree[from], h.tree[h.base], came)
	for _, c := range h.chain {
		before, brought := h.tree[firstOf(c.parents)], h.brought[c.oid]
		switch {
		case before == "":
		case brought != "" && h.tree[brought] != "":
			compare(h.tree[from], h.tree[brought], allowed)
			compare(before, c.tree, cameIfAllowed)
		case len(c.parents) != 1:
		case (c.authored < since.Unix() || h.copies[c.oid]) && c.oid != h.amended:
			compare(before, c.tree, came)
		case h.back:
			compare(before, c.tree, made)
		}
	}
	r, done := w.reader()
	defer done()
	all, may := map[string]Step{}, map[string]bool{}
	for _, c := range compared {
		steps, err := r.DiffTrees(ctx, c.a, c.b)
		if errors.Is(err, trees.ErrMissing) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if c.as == allowed {
			clear(may)
		}
		for _, s := range steps {
			switch {
			case c.as == allowed:
				may[s.Path] = true
			case c.as == made:
				delete(all, s.Path)
			case c.as == came || may[s.Path]:
				if known, has := all[s.Path]; has {
					s.Before = known.Before
				}
				all[s.Path] = s
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, s Step) bool { return s.Before == s.After })
	return all, nil
}

// A comparison is of two trees.
type comparison struct {
	a, b string
	as   role
}

// A role says how to treat the paths at which two trees differ.
type role int

const (
	came          role = iota // they came with HEAD
	allowed                   // they may have come with the merge that is compared next
	cameIfAllowed             // they came, if they were allowed to
	made                      // the present version was made of the one before HEAD moved, as far as is known
)

// A headMove is the way of HEAD from one commit to another.
type headMove struct {
	base    string            // the newest commit of before that the new HEAD stands on
	back    bool              // the old HEAD stands on it, and is another one
	chain   []commit          // from there on to HEAD
	amended string            // that of the chain which may be the old HEAD, amended
	brought map[string]string // by merge of the chain: a commit of before that it brought
	tree    map[string]string // by commit, of those that are here
	copies  map[string]bool   // those of the chain that repeat a commit of the second of since
}

// headMove reads the way of HEAD; nil if an end is missing here.
func (w *Worktree) headMove(ctx context.Context, from, to string, since time.Time) (*headMove, error) {
	objects := filepath.Join(w.repo.CommonDir, "objects")
	args := []string{"--max-age=" + strconv.FormatInt(max(0, since.Unix()), 10), to}
	if from != "" {
		args = append(args, "^"+from)
	}
	list, err := w.commits(ctx, args...)
	if err != nil {
		return nil, err
	}
	young, ask := map[string]commit{}, []string{"--no-walk=unsorted", to}
	for _, c := range list {
		if c.committed == since.Unix() && storedBefore(objects, c.oid, since) {
			continue
		}
		young[c.oid], ask = c, append(ask, c.parents...)
	}
	if from != "" {
		ask = append(ask, from)
	}
	if list, err = w.commits(ctx, ask...); err != nil {
		return nil, err
	}
	h := &headMove{brought: map[string]string{}, tree: map[string]string{"": w.repo.ObjectFormat.EmptyTree()}}
	var replaced []string // parents of the old HEAD
	for _, c := range list {
		h.tree[c.oid] = c.tree
		if c.oid == from {
			replaced = c.parents
		}
	}
	older := func(oid string) string { // the newest commit of before that it stands on
		for young[oid].oid != "" {
			oid = firstOf(young[oid].parents)
		}
		return oid
	}
	h.base = older(to)
	if h.tree[from] == "" || h.tree[h.base] == "" {
		return nil, nil
	}
	for oid := to; oid != h.base; oid = firstOf(young[oid].parents) {
		c := young[oid]
		h.chain = append(h.chain, c)
		for _, parent := range c.parents[min(1, len(c.parents)):] {
			if theirs := older(parent); theirs != "" && !w.isAncestor(ctx, theirs, from) {
				h.brought[oid] = theirs
			}
		}
	}
	slices.Reverse(h.chain)
	if len(h.chain) > 0 && from != "" && slices.Equal(h.chain[0].parents, replaced) {
		h.amended = h.chain[0].oid
	}
	h.back = len(h.chain) > 0 && h.base != from && w.isAncestor(ctx, h.base, from)
	if slices.ContainsFunc(h.chain, func(c commit) bool { return c.authored == since.Unix() }) {
		args := []string{"--max-age=" + strconv.FormatInt(since.Unix(), 10), "--branches", "--tags", "--remotes"}
		if from != "" { // a rebase leaves it on no branch
			args = append(args, from)
		}
		all, err := w.commits(ctx, args...)
		if err != nil {
			return nil, err
		}
		h.copies = copiesOf(h.chain, slices.DeleteFunc(all, func(c commit) bool { return !storedBefore(objects, c.oid, since) }))
	}
	return h, ctx.Err()
}

// copiesOf are the commits of a chain that repeat one of others: same author, date and subject.
func copiesOf(chain, others []commit) map[string]bool {
	type words struct {
		authored int64
		text     string
	}
	known, copies := map[words]bool{}, map[string]bool{}
	for _, c := range others {
		known[words{c.authored, c.words}] = true
	}
	for _, c := range chain {
		copies[c.oid] = known[words{c.authored, c.words}]
	}
	return copies
}

// storedBefore reports whether git stored an object before a time. It is false of one in a pack, whose time
// is unknown.
func storedBefore(objects, oid string, at time.Time) bool {
	const coarse = 20 * time.Millisecond // a file's time may lag that far behind the clock
	path := filepath.Join(objects, oid[:2], oid[2:])
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stored := info.ModTime() // git sets it anew when it stores the same object again
	if b := born(path); b != (Timestamp{}) && time.Unix(b.Sec, b.Nsec).Before(stored) {
		stored = time.Unix(b.Sec, b.Nsec)
	}
	return stored.Add(coarse).Before(at)
}

// isAncestor reports whether HEAD already had a commit. It is false if the commit is "".
func (w *Worktree) isAncestor(ctx context.Context, oid, of string) bool {
	if of == "" {
		return false
	}
	_, err := w.git.Run(ctx, "merge-base", "--is-ancestor", oid, of)
	return err == nil
}

type commit struct {
	oid, tree string
	authored  int64 // seconds since the epoch
	committed int64
	parents   []string
	words     string // author and subject
}

// commits are those that rev-list lists and that are here.
func (w *Worktree) commits(ctx context.Context, args ...string) (list []commit, err error) {
	out, err := w.git.Run(ctx, append(append([]string{"rev-list", "--no-commit-header", "--ignore-missing", "--format=%H %T %at %ct %P%x00%an <%ae> %s"}, args...), "--")...)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code > 0 {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("read commits: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		facts, said, _ := strings.Cut(line, "\x00")
		words := strings.Fields(facts)
		if len(words) < 4 {
			return nil, fmt.Errorf("rev-list: %w", ErrMalformed)
		}
		authored, err := strconv.ParseInt(words[2], 10, 64)
		committed, err2 := strconv.ParseInt(words[3], 10, 64)
		if err != nil || err2 != nil {
			return nil, fmt.Errorf("rev-list: %w", ErrMalformed)
		}
		list = append(list, commit{oid: words[0], tree: words[1], authored: authored, committed: committed, parents: words[4:], words: said})
	}
	return list, nil
}

func firstOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
