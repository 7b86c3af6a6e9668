package gitstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/gitstore/sidecar"
	"jp/internal/safefile"
)

// errNotCached says that a chain is not simple enough for a sidecar. Reading it
// the other way says why.
var errNotCached = errors.New("no plain chain of events")

// update makes the log reach to a head, and its words with it, and returns the
// index of the head in it. What cannot be written is still there in memory.
func (c *cached) update(ctx context.Context, head odb.OID) (int, error) {
	defer c.bound()
	c.keepChain(head)
	if i := c.log.Index(idOf(head)); i >= 0 {
		return i, c.index(c.log.Len()-1 == i)
	}
	missing, keep, err := c.missing(ctx, head)
	if err != nil {
		return 0, err
	}
	if c.all.still.Load() {
		c.log.Detach()
	} else {
		c.forget(safefile.MakeFolders(filepath.Dir(c.path), 0o777, c.all.git.Share))
	}
	err = c.log.Extend(keep, missing)
	c.forget(err)
	c.all.grown.Add(int64(len(c.log.Buffer())))
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
	for i := 1; i < n; i++ {
		if idOf(firstParent(c.log.Record(i).Raw)) != c.log.Record(i-1).ID {
			c.log.Keep(i)
			return
		}
	}
	if n > 0 {
		newest := stored{kind: "commit", object: c.log.Record(n - 1).Raw}
		if seq, _, err := numberAndParent(newest, -1); err != nil || seq != n-1 {
			c.log.Keep(0)
		}
	}
}

// missing walks from a head back to a record of the log, or to the first event.
// It returns what is missing behind the first keep records.
func (c *cached) missing(ctx context.Context, head odb.OID) (records []sidecar.Record, keep int, err error) {
	known := map[sidecar.ID]int{}
	for i := range c.log.Len() {
		known[c.log.Record(i).ID] = i
	}
	ahead := readAhead(c.all.commits, head, c.all.commits.checkName)
	defer ahead.stop()
	above := -1
	for oid := head; ; {
		if i, ok := known[idOf(oid)]; ok {
			if err := c.follows(i, above); err != nil {
				return nil, 0, err
			}
			keep = i + 1
			break
		}
		o, ok := ahead.next(oid)
		if !ok {
			o = c.all.commits.stored(oid)
		}
		seq, parent, err := numberAndParent(o, above)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, 0, err
		}
		records = append(records, sidecar.Record{ID: idOf(oid), Raw: o.object})
		if seq == 0 {
			break
		}
		above, oid = seq, parent
	}
	slices.Reverse(records)
	return records, keep, nil
}

// follows checks that the event above stands on a record of the log.
func (c *cached) follows(i, above int) error {
	seq, _, err := numberAndParent(stored{kind: "commit", object: c.log.Record(i).Raw}, above)
	if err == nil && seq != i {
		return fmt.Errorf("%w: event %d at %d", errNotCached, seq, i)
	}
	return err
}

// numberAndParent is the number of a stored event, which is the one before above, and
// its parent.
func numberAndParent(o stored, above int) (seq int, parent odb.OID, err error) {
	if o.err != nil {
		return 0, "", o.err
	}
	if o.kind != "commit" {
		return 0, "", fmt.Errorf("%w: a %s", errNotCached, o.kind)
	}
	c, err := parseCommit(o.object)
	if err != nil {
		return 0, "", err
	}
	seq, ok := conversation.HeaderSeq(c.data)
	if !ok || above >= 0 && seq != above-1 || seq > 0 && len(c.parents) != 1 {
		return 0, "", fmt.Errorf("%w: %.10s", errNotCached, o.oid)
	}
	return seq, c.parent(), nil
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
	newest, from, size, again := c.log.Record(n-1).ID, 0, len(c.log.Buffer()), c.words != nil
	if again && c.words.Head == newest && c.words.Marked {
		return nil
	}
	if again {
		from = c.log.Index(c.words.Head) + 1
	}
	if !again || !c.words.Marked || from != c.words.Len() || !c.words.Fits(size) || !c.words.ReadMarks(c.path+wordsSuffix) {
		c.words, from = sidecar.NewWords(size, again, c.all.ids), 0
	}
	for range n - from {
		if err := enter(c.words, c.log); err != nil {
			return err
		}
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
func enter(w *sidecar.Words, log *sidecar.Log) error {
	c, err := parseCommit(log.Record(w.Len()).Raw)
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
