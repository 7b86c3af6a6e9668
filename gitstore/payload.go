package gitstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitstore/odb"
)

// A payloadKeeper makes the commits that keep payload.
type payloadKeeper struct {
	odb     *odb.Store
	commits *commitReader
	encoder func() *encoder
}

// present are the payloads that can be kept: the new ones, and of those that come
// with a copied event the ones that are here.
func (k *payloadKeeper) present(payloads []conversation.Payload) []conversation.Payload {
	return slices.DeleteFunc(slices.Clone(payloads), func(p conversation.Payload) bool {
		if p.Data != nil {
			return false
		}
		there, err := k.odb.Has(odb.OID(p.OID))
		return err == nil && !there && p.Bytes > 0
	})
}

// payloadObjects makes the blobs of an event's new payload and the commit that
// keeps them, behind the payload commit before it.
func (enc *encoder) payloadObjects(e *conversation.Event, kept []conversation.Payload, parent odb.OID, committed time.Time) ([]odb.Object, odb.OID) {
	var objects []odb.Object
	entries := map[string]odb.OID{}
	for i, p := range kept {
		oid := odb.OID(p.OID)
		if p.Data != nil || p.Bytes == 0 {
			objects = append(objects, odb.Object{Kind: "blob", OID: oid, Data: p.Data})
		}
		entries[entryName(p.Name, i, entries)] = oid
	}
	tree := enc.treeObject(entries)
	c := &commit{
		tree: tree.OID, author: jpPerson, authored: e.Time.In(enc.zone),
		committer: enc.committer(), committed: laterOf(e.Time, committed).In(enc.zone),
		message: fmt.Appendf(nil, "payload of event %d\n", e.Seq),
	}
	if parent != "" {
		c.parents = []odb.OID{parent}
	}
	data := c.encode()
	oid := odb.HashObject(enc.format, "commit", data)
	return append(objects, tree, odb.Object{Kind: "commit", OID: oid, Data: data}), oid
}

// keepFetched is keepBelow for a chain whose payload a remote's ref may keep. If no ref keeps any
// payload, it does not read the chain.
func (k *payloadKeeper) keepFetched(ctx context.Context, head odb.OID) (objects []odb.Object, payload odb.OID, err error) {
	own, ownErr := k.odb.ListRefs(refPayloads)
	theirs, theirsErr := k.odb.ListRefs(refRemotes)
	if ownErr == nil && theirsErr == nil && len(own) == 0 && !slices.ContainsFunc(theirs, func(r odb.Ref) bool { return keepsPayload(r.Name) }) {
		return nil, "", nil
	}
	return k.keepBelow(ctx, head)
}

// keepBelow makes the commits that keep the payload of a chain's events, as far as it is here, and returns
// the newest commit, "" if there is none.
func (k *payloadKeeper) keepBelow(ctx context.Context, head odb.OID) (objects []odb.Object, payload odb.OID, err error) {
	events, err := k.withPayload(ctx, head)
	if err != nil {
		return nil, "", err
	}
	enc := k.encoder()
	at := time.Time{}
	for _, e := range events {
		kept := k.present(e.Payloads)
		if len(kept) == 0 {
			continue
		}
		var made []odb.Object
		made, payload = enc.payloadObjects(e, kept, payload, at)
		objects, at = append(objects, made...), e.Time
	}
	return objects, payload, nil
}

// withPayload are the events up to a head that have payload, oldest first, as far as
// they can be read. Their payload is not read.
func (k *payloadKeeper) withPayload(ctx context.Context, head odb.OID) (events []*conversation.Event, err error) {
	w := k.commits.walk(head)
	w.bare = true
	w.goAhead()
	defer w.stop()
	for !w.done {
		l, err := w.step(ctx)
		var damage *DamageError
		switch {
		case errors.Is(err, ErrShallow):
		case errors.As(err, &damage):
		case err != nil:
			return nil, err
		case len(l.event.Payloads) > 0:
			events = append(events, l.event)
		}
	}
	slices.Reverse(events)
	return events, nil
}

// entryName is a payload's name as it can stand in a tree.
func entryName(name string, index int, taken map[string]odb.OID) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-", r):
			return r
		}
		return '-'
	}, name)
	name = strings.TrimLeft(name[:min(len(name), 100)], ".-")
	unique := name
	for n := index; ; n++ {
		if _, twice := taken[unique]; unique != "" && !twice {
			return unique
		}
		unique = fmt.Sprintf("%d-%s", n, name)
	}
}

func (enc *encoder) treeObject(entries map[string]odb.OID) odb.Object {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	var data []byte
	for _, name := range names {
		data = append(append(append(data, "100644 "...), name...), 0)
		data, _ = hex.AppendDecode(data, []byte(entries[name]))
	}
	return odb.Object{Kind: "tree", OID: odb.HashObject(enc.format, "tree", data), Data: data}
}
