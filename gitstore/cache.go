package gitstore

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"sync/atomic"

	"jp/gitstore/odb"
	"jp/gitstore/sidecar"
	"jp/internal/safefile"
)

// update makes the log reach to a head, and its words with it, and returns the
// index of the head in it. What cannot be written is still there in memory.
func (c *cached) update(ctx context.Context, head odb.OID) (int, error) {
	defer c.bound()
	c.keepChain(head)
	if i := c.log.Index(idOf(head)); i >= 0 {
		return i, c.index(c.log.Len()-1 == i)
	}
	missing, err := c.missing(ctx, head)
	if err != nil {
		return 0, err
	}
	if c.all.still.Load() {
		c.log.Detach()
	} else {
		c.forget(safefile.MakeFolders(filepath.Dir(c.path), 0o777, c.all.git.Share))
	}
	var failed error
	c.forget(c.log.Extend(missing.keep, missing.records(ctx, c.all.commits, &failed)))
	if n := c.log.Len(); failed != nil || n == 0 || c.log.ID(n-1) != idOf(head) {
		return 0, errors.Join(errNotCached, failed)
	}
	c.all.grown.Add(int64(c.log.Size()))
	if err := c.index(true); err != nil {
		return 0, err
	}
	return c.log.Len() - 1, nil
}

// keepChain forgets records of the log that are not the events before a head: each is
// checked by itself, and one may be missing, or be of another history.
func (c *cached) keepChain(head odb.OID) {
	n := c.log.Index(idOf(head)) + 1
	if n == 0 {
		n = c.log.Len()
	}
	whole := 0
	var newest []byte
	if !c.log.Each(0, n, func(i int, r sidecar.Record) bool {
		if i > 0 && idOf(firstParent(r.Raw)) != c.log.ID(i-1) {
			return false
		}
		if whole++; whole == n {
			newest = r.Raw
		}
		return true
	}) || whole < n {
		c.log.Keep(whole)
		return
	}
	if n > 0 {
		if seq, _, err := numberAndParent(stored{kind: "commit", object: newest}, -1); err != nil || seq != n-1 {
			c.log.Keep(0)
		}
	}
}

// missing is what a log lacks behind the first keep records.
type missing struct {
	keep int
	chain
	held []sidecar.Record // all of it, newest first, if that is little
}

// mostHeld is how many bytes of commits are held. More are read a second time.
var mostHeld = 4 << 20

// missing walks from a head back to a record of the log, or to the first event.
func (c *cached) missing(ctx context.Context, head odb.OID) (*missing, error) {
	m, bytes := &missing{}, 0
	var many atomic.Bool
	proven := func(o stored) stored {
		if many.Load() {
			return o
		}
		return c.all.commits.checkName(o)
	}
	var err error
	m.chain, err = c.all.commits.chainTo(ctx, head, proven, func(o stored, seq int) bool {
		if seq < c.log.Len() && c.log.ID(seq) == idOf(o.oid) {
			m.keep = seq + 1
			return true
		}
		if bytes += len(o.object); bytes > mostHeld {
			many.Store(true)
			m.held = nil
			return false
		}
		m.held = append(m.held, sidecar.Record{ID: idOf(o.oid), Raw: o.object})
		return false
	})
	return m, err
}

// records are the missing ones, oldest first, until one cannot be read.
func (m *missing) records(ctx context.Context, commits *commitReader, failed *error) iter.Seq[sidecar.Record] {
	return func(yield func(sidecar.Record) bool) {
		if len(m.held) == m.len() {
			for _, r := range slices.Backward(m.held) {
				if !yield(r) {
					return
				}
			}
			return
		}
		*failed = forward(ctx, commits, m.chain, commits.checkName, func(_ int, o stored) error {
			if o.err == nil && !yield(sidecar.Record{ID: idOf(o.oid), Raw: o.object}) {
				return errNotCached
			}
			return o.err
		})
	}
}

// index makes the words reach to the newest record. whole is whether that is
// what the file has, so that others may rely on it. Marks are for conversations that
// are searched again: making them takes a quarter of the time of the first search.
func (c *cached) index(whole bool) error {
	n := c.log.Len()
	if n == 0 || !whole {
		c.words = nil
		return nil
	}
	newest, from, size, again := c.log.ID(n-1), 0, c.log.Size(), c.words != nil
	if again && c.words.Head == newest && c.words.Marked {
		return nil
	}
	if again {
		from = c.log.Index(c.words.Head) + 1
	}
	if !again || !c.words.Marked || from != c.words.Len() || !c.words.Fits(size) || !c.words.ReadMarks(c.path+wordsSuffix) {
		c.words, from = sidecar.NewWords(size, again, c.all.ids), 0
	}
	var err error
	if !c.log.Each(from, n, func(_ int, r sidecar.Record) bool {
		err = enter(c.words, c.log, r)
		return err == nil
	}) {
		err = errNotCached
	}
	if err != nil {
		return err
	}
	c.words.Add([]byte(c.title))
	if c.all.still.Load() {
		return nil
	}
	c.forget(c.words.Write(c.path + wordsSuffix))
	c.all.grown.Add(int64(c.words.Size()))
	return nil
}

// enter adds what can be found of the log's next event to the words.
func enter(w *sidecar.Words, log *sidecar.Log, next sidecar.Record) error {
	c, err := parseCommit(next.Raw)
	if err != nil {
		return err
	}
	w.AddRecord(log, c.data, c.message)
	w.Text = w.Text || textElsewhere.Index(c.data) >= 0
	return nil
}

// forget drops an error of writing: the sidecar is only a copy.
func (c *cached) forget(err error) {
	if err != nil && c.all.log != nil {
		c.all.log.Debug("the search is slower than it could be", "error", err)
	}
}

// bound looks at all sidecars once much was written.
func (c *cached) bound() {
	if !c.all.still.Load() && c.all.grown.Load() >= c.all.limit/boundShare {
		c.all.grown.Store(0)
		c.all.bound(filepath.Base(c.path))
	}
}
