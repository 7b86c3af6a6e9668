package gitstore

import (
	"slices"
	"sync"
	"time"

	"jp/conversation"
	"jp/gitstore/odb"
)

// tips are the newest events that a store wrote or read lately, so that the next write reads
// nothing. Goroutines may share it.
type tips struct {
	mu   sync.Mutex
	byID map[odb.OID]*tip
}

// A tip is a conversation's newest event, with the conversation's summary.
type tip struct {
	event     *conversation.Event
	committed time.Time
	summary   conversation.Summary
	ref       string // the one to which this store has written it; "" if it was read
}

// of completes the Info of a conversation.
func (t *tip) of(info conversation.Info) conversation.Info {
	info.Tip, info.Summary = t.event.Clone(), t.summary
	return info
}

// remember keeps a newest event at hand, in place of the one that it follows.
func (t *tips) remember(oid odb.OID, newest *tip, before odb.OID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, before)
	if len(t.byID) >= 64 {
		clear(t.byID)
	}
	t.byID[oid] = newest
}

// written is the tip that a group of events has made. It shares no memory with the caller, and has no
// content of payloads.
func written(e *conversation.Event, end basis, ref string) *tip {
	e = e.Clone()
	e.Objects, e.Payloads = nil, slices.Clone(e.Payloads)
	for i := range e.Payloads {
		e.Payloads[i].Data = nil
	}
	return &tip{event: e, committed: end.committed, summary: end.summary, ref: ref}
}

// writtenTo is the ref to which this store has written a conversation's newest event, "" if another process
// wrote that. The ref may have moved since: a write finds that out.
func (t *tips) writtenTo(id conversation.ID, newest odb.OID) string {
	known := t.known(newest)
	if known == nil || known.ref != refLive+string(id) && known.ref != refArchive+string(id) {
		return ""
	}
	return known.ref
}

func (t *tips) known(oid odb.OID) *tip {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[oid]
}

// forget drops all tips, as after failed writes.
func (t *tips) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.byID)
}
