package gitstore

import (
	"sync"

	"jp/conversation"
	"jp/gitstore/odb"
)

// An ancestry tells which events are among those up to a head. It remembers where it has
// looked. Goroutines may share it.
type ancestry struct {
	commits *commitReader

	mu    sync.Mutex
	walks map[odb.OID]walked // of an event that was looked for below a head
}

// A walked is how an event was looked for below a head, and its number.
type walked struct {
	head    odb.OID
	reached bool
	seq     int // -1 for what is no event
}

// maxWalked is how many of those are remembered.
const maxWalked = 1024

// reaches reports whether an event is one of those up to a head. It looks no further
// down than the event can be, and not again where it has looked.
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

// descends is reaches, with what is known of one head.
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

// seq is the number of a stored event, -1 for what is none.
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
