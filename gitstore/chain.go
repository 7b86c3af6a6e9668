package gitstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// A chain is the names of a conversation's commits, oldest first. A reader of very many events holds only
// these: a name takes as many bytes as its hash.
type chain struct {
	names []byte
	size  int // bytes of a name
}

func (c chain) len() int { return len(c.names) / c.size }

func (c chain) oid(i int) odb.OID {
	return odb.OID(hex.EncodeToString(c.names[i*c.size : (i+1)*c.size]))
}

// errNotCached says that a chain is not simple enough to be read oldest first. Reading it
// the other way says why.
var errNotCached = errors.New("no plain chain of events")

// chainTo walks from a head to the first event. It checks only that the events' numbers have no gap.
func (r *commitReader) chainTo(ctx context.Context, head odb.OID) (chain, error) {
	c := chain{size: r.format.Size()}
	ahead := readAhead(r, head, func(o stored) stored { return o })
	defer ahead.stop()
	above := -1
	for oid := head; ; {
		o, ok := ahead.next(oid)
		if !ok {
			o = r.storedUnverified(oid)
		}
		seq, parent, err := numberAndParent(o, above)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return c, err
		}
		was := len(c.names)
		if c.names, err = hex.AppendDecode(c.names, []byte(oid)); err != nil || len(c.names) != was+c.size {
			return c, fmt.Errorf("%w: %.10s", errNotCached, oid)
		}
		if seq == 0 {
			return c.reversed(), nil
		}
		above, oid = seq, parent
	}
}

// reversed turns the names round.
func (c chain) reversed() chain {
	names := make([]byte, 0, len(c.names))
	for i := c.len() - 1; i >= 0; i-- {
		names = append(names, c.names[i*c.size:(i+1)*c.size]...)
	}
	c.names = names
	return c
}

// forward yields the results of making for the commits of a chain, oldest first.
func forward[T any](ctx context.Context, r *commitReader, c chain, making func(stored) T, each func(i int, value T) error) error {
	if c.len() == 0 {
		return nil
	}
	ahead := readListed(r, c, making)
	defer ahead.stop()
	for i := range c.len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		oid := c.oid(i)
		value, ok := ahead.next(oid)
		if !ok {
			value = making(r.stored(oid))
		}
		if err := each(i, value); err != nil {
			return err
		}
	}
	return nil
}

// readListed is readAhead for objects whose names are known.
func readListed[T any](r *commitReader, oids chain, making func(stored) T) *prefetch[T] {
	at := 0
	next := func(stored) odb.OID {
		if at++; at >= oids.len() {
			return ""
		}
		return oids.oid(at)
	}
	return readAlong(r, oids.oid(0), next, making)
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
