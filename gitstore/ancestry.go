package gitstore

import (
	"sync"

	"jp/conversation"
	"jp/gitstore/odb"
)

// An ancestry tells which events a head reaches. It remembers the commits that it has walked. Goroutines
// may share it.
type ancestry struct {
	commits *commitReader

	mu    sync.Mutex
	walks map[odb.OID]walked // of the search for an event below a head
}

// A walked is the result of a search for an event below a head, and the event's number.
type walked struct {
	head    odb.OID
	reached bool
	seq     int // -1 if it is no event
}

// maxWalked is the number of those to remember.
const maxWalked = 1024

// reaches reports whether a head descends from an event, or is it. It walks no further than the event's
// number, and walks nothing twice.
func (a *ancestry) reaches(head, event odb.OID) bool {
	a.mu.Lock()
	before, known := a.walks[event]
	a.mu.Unlock()
	if !known {
		before = walked{head: event, reached: true, seq: a.commits.stored(event).seq()}
	}
	now := walked{head: head, reached: a.descends(head, event, before), seq: before.seq}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.walks) >= maxWalked {
		clear(a.walks)
	}
	a.walks[event] = now
	return now.reached
}

// descends is reaches with the result of an earlier walk from one head.
func (a *ancestry) descends(head, event odb.OID, before walked) bool {
	foreign := 0
	for oid := head; oid != "" && foreign <= maxForeign; {
		switch oid {
		case event:
			return true
		case before.head:
			return before.reached
		}
		o := a.commits.stored(oid)
		seq := o.seq()
		if seq >= 0 && seq <= max(0, before.seq) {
			return false
		}
		if foreign++; seq >= 0 {
			foreign = 0
		}
		oid = firstParent(o.object)
	}
	return false
}

// seq is the number of a stored event, -1 for any other object.
func (o stored) seq() int {
	if o.err != nil || o.kind != "commit" {
		return -1
	}
	c, err := parseCommit(o.object)
	if err != nil {
		return -1
	}
	seq, ok := conversation.HeaderSeq(c.data)
	if !ok {
		return -1
	}
	return seq
}
