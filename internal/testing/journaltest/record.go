package journaltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"jp/conversation"
)

// A record is one stored event, with its predecessor.
type record struct {
	parent           conversation.Head
	seq              int
	header, provider []byte
	text             string
	hasText          bool
	tree, author     string
	model, subject   string
	opaque           bool
	needs            []string
}

// write stores a group of events behind a head, atomically. The caller
// holds the lock.
func (m *Memory) write(ctx context.Context, behind conversation.Head, base string, events []*conversation.Event) (conversation.Head, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	tip, next := record{tree: emptyTree, seq: -1}, map[conversation.Head]record{}
	if behind != "" {
		tip = m.records[behind]
	}
	if tip.opaque {
		return "", conversation.ErrNewer
	}
	conversation.CarryNeeds(tip.needs, events)
	heads, head := make([]conversation.Head, len(events)), behind
	stored := make([]record, len(events))
	for i, e := range events {
		r, err := encode(e, tip)
		if err != nil {
			return "", err
		}
		r.parent = head
		head = conversation.Head(hash([]byte(r.parent), []byte(base), r.header, []byte(r.text), r.provider, []byte(r.tree)))
		heads[i], stored[i], next[head], tip = head, r, r, r
	}
	if m.Fault != nil {
		if err := m.Fault(events); err != nil {
			return "", err
		}
	}
	for i, e := range events {
		m.keepPayloads(e)
		e.Commit, e.Tree, e.Author, e.Signed = string(heads[i]), stored[i].tree, stored[i].author, true
	}
	for h, r := range next {
		m.records[h] = r
	}
	return head, nil
}

// encode makes a record of an event that comes behind tip.
func encode(e *conversation.Event, tip record) (record, error) {
	if e.Seq != tip.seq+1 {
		return record{}, fmt.Errorf("event %d cannot follow event %d", e.Seq, tip.seq)
	}
	c := e.Clone()
	c.Payloads = slices.Clone(e.Payloads)
	for i := range c.Payloads {
		describePayload(&c.Payloads[i])
	}
	header, err := conversation.EncodeHeader(c, conversation.NoText)
	if err != nil {
		return record{}, err
	}
	r := record{
		seq: e.Seq, header: header, provider: slices.Clone(e.Provider), tree: e.Tree, model: e.Model,
		author: string(e.Role()), opaque: e.Opaque(), needs: e.Needs,
	}
	r.text, r.hasText = e.Text()
	r.subject, _ = conversation.SubjectOf(e)
	if r.tree == "" {
		r.tree = tip.tree
	}
	return r, nil
}

// describePayload fills in the fields that derive from a payload's content.
func describePayload(p *conversation.Payload) {
	if p.Data == nil {
		return
	}
	sum := sha256.Sum256(p.Data)
	p.OID, p.Bytes, p.SHA256 = hash(p.Data), int64(len(p.Data)), hex.EncodeToString(sum[:])
}

func (m *Memory) keepPayloads(e *conversation.Event) {
	for i := range e.Payloads {
		p := &e.Payloads[i]
		describePayload(p)
		if p.Data != nil {
			m.blobs[p.OID] = slices.Clone(p.Data)
		}
	}
}

// read decodes the event at a head, and names the head before it.
func (m *Memory) read(ctx context.Context, at conversation.Head) (*conversation.Event, conversation.Head, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	r, ok := m.records[at]
	m.mu.Unlock()
	if !ok {
		return nil, "", fmt.Errorf("event %q: %w", at, conversation.ErrNotFound)
	}
	e, _, err := conversation.DecodeHeader(r.header)
	if err != nil {
		return nil, "", err
	}
	if r.hasText {
		e.SetText(r.text)
	}
	e.Commit, e.Tree, e.Author, e.Model, e.Subject, e.Signed = string(at), r.tree, r.author, r.model, r.subject, true
	if len(r.provider) > 0 {
		e.Provider = slices.Clone(r.provider)
	}
	return e, r.parent, nil
}
