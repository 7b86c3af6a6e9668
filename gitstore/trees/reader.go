package trees

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/utils/merkletrie"
	"github.com/go-git/go-git/v5/utils/merkletrie/noder"

	"jp/gitcmd"
)

// A source gives the objects of a repository.
type source interface {
	read(ctx context.Context, oid, kind string) ([]byte, error)
	close() error
}

// A reader reads trees from a source, and compares them with go-git's merkletrie.
type reader struct {
	source
	decode func(oid string, data []byte) ([]Entry, error)
	most   budget // of one comparison

	mu      sync.Mutex
	kept    map[string][]Entry // decoded trees: a walk along events meets each twice
	entries int                // in all of them
}

func newReader(from source, decode func(oid string, data []byte) ([]Entry, error)) *reader {
	return &reader{source: from, decode: decode, most: maxElements, kept: map[string][]Entry{}}
}

// mostKept is how many entries of decoded trees stay in memory.
const mostKept = 100_000

func (r *reader) Close() error {
	r.mu.Lock()
	clear(r.kept)
	r.entries = 0
	r.mu.Unlock()
	return r.close()
}

func (r *reader) Blob(ctx context.Context, oid string) ([]byte, error) {
	return r.object(ctx, oid, "blob")
}

func (r *reader) Tree(ctx context.Context, oid string) ([]Entry, error) {
	r.mu.Lock()
	kept, known := r.kept[oid]
	r.mu.Unlock()
	if known {
		return kept, nil
	}
	data, err := r.object(ctx, oid, "tree")
	if err != nil {
		return nil, err
	}
	entries, err := r.decode(oid, data)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", oid, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries += len(entries); r.entries > mostKept {
		clear(r.kept)
		r.entries = len(entries)
	}
	r.kept[oid] = entries
	return entries, nil
}

// object reads an object of a kind. The empty tree is there even if it was never written.
func (r *reader) object(ctx context.Context, oid, kind string) ([]byte, error) {
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !gitcmd.IsObjectName(oid):
		return nil, fmt.Errorf("read %s %q: %w: no object name", kind, oid, ErrMalformed)
	case kind == "tree" && gitcmd.IsEmptyTree(oid):
		return nil, nil
	}
	data, err := r.read(ctx, oid, kind)
	if err == nil && kind == "tree" && len(data) > maxBytes {
		err = fmt.Errorf("tree %s: %w: %d bytes", oid, ErrTooLarge, len(data))
	}
	return data, err
}

func (r *reader) DiffTrees(ctx context.Context, before, after string) ([]Change, error) {
	if before == after {
		return nil, nil
	}
	walk := &walk{ctx: ctx, trees: r, left: r.most}
	found, err := merkletrie.DiffTreeContext(ctx, walk.root(before), walk.root(after), sameHash)
	switch {
	case walk.err != nil: // merkletrie keeps only the words of an error
		return nil, walk.err
	case errors.Is(err, merkletrie.ErrCanceled):
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("compare trees: %w: %w", ErrMalformed, err)
	}
	changes := make([]Change, len(found))
	for i, f := range found {
		if f.From != nil {
			changes[i].Path, changes[i].Before = f.From.String(), f.From.Last().(*node).Version
		}
		if f.To != nil {
			changes[i].Path, changes[i].After = f.To.String(), f.To.Last().(*node).Version
		}
	}
	sortChanges(changes)
	return changes, nil
}

// A walk is one comparison.
type walk struct {
	ctx   context.Context
	trees *reader
	left  budget
	err   error // the first
}

func (w *walk) root(oid string) noder.Noder {
	return &node{walk: w, Entry: Entry{Version: Version{Mode: ModeFolder, OID: oid}}}
}

// A node is an entry as merkletrie walks it. go-git's own refuses names that cannot be
// checked out, does not bound its walk, and reads each folder beside one that differs.
type node struct {
	Entry
	walk  *walk
	depth int
}

// sameHash compares two nodes that merkletrie has met, without a copy of their names.
func sameHash(a, b noder.Hasher) bool {
	return a.(noder.Path).Last().(*node).Version == b.(noder.Path).Last().(*node).Version
}

func (n *node) Hash() []byte   { return []byte(n.Mode + n.OID) }
func (n *node) String() string { return n.Entry.Name }
func (n *node) Name() string   { return n.Entry.Name }
func (n *node) IsDir() bool    { return n.Mode == ModeFolder }
func (n *node) Skip() bool     { return false }

// NumChildren tells merkletrie only whether there are any: only one tree has none.
func (n *node) NumChildren() (int, error) {
	if n.IsDir() && !gitcmd.IsEmptyTree(n.OID) {
		return 1, nil
	}
	return 0, nil
}

// Children returns a new list: merkletrie consumes it. It sorts it backwards by name.
func (n *node) Children() ([]noder.Noder, error) {
	if !n.IsDir() {
		return noder.NoChildren, nil
	}
	w := n.walk
	if w.err != nil {
		return nil, w.err
	}
	entries, err := w.trees.Tree(w.ctx, n.OID)
	if err == nil {
		err = w.left.take(len(entries), n.depth)
	}
	if err != nil {
		w.err = err
		return nil, err
	}
	nodes := make([]node, len(entries))
	children := make([]noder.Noder, len(entries))
	for i, e := range entries {
		at := len(entries) - 1 - i
		nodes[at] = node{Entry: e, walk: w, depth: n.depth + 1}
		children[at] = &nodes[at]
	}
	return children, nil
}
