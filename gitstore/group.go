package gitstore

import (
	"fmt"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
)

// A groupBuilder makes the objects of the events that one write makes durable.
type groupBuilder struct {
	payloads   *payloadKeeper
	format     gitcmd.ObjectFormat
	mac        *signer
	zone       *time.Location
	user       func() Person
	rewrite    func(conversation.ID, []*conversation.Event) error // nil rewrites nothing
	noKey      error                                              // the reason why the store cannot write
	repository func(forWrite bool) (string, error)
}

// A group is made durable by one write.
type group struct {
	objects             []odb.Object
	end                 basis
	payloadWas, payload odb.OID // "" if no event has payload
}

// payloadUpdate moves the conversation's payload, if there is new one.
func (g *group) payloadUpdate(id conversation.ID) []odb.RefUpdate {
	if g.payload == g.payloadWas {
		return nil
	}
	return []odb.RefUpdate{{Ref: refPayloads + string(id), Old: g.payloadWas, New: g.payload}}
}

// encoder makes commits in the user's name. build adds the home of the events.
func (b *groupBuilder) encoder() *encoder {
	return &encoder{format: b.format, user: b.user(), mac: b.mac, zone: b.zone}
}

// rewritten changes events as the user wants them, before anything is made of them.
func (b *groupBuilder) rewritten(id conversation.ID, events []*conversation.Event) error {
	if b.rewrite == nil {
		return nil
	}
	if err := b.rewrite(id, events); err != nil {
		return fmt.Errorf("event %d of %s: %w", events[0].Seq, id, err)
	}
	return nil
}

// build makes the objects of a conversation's events. Their payload goes behind the earlier payload, which
// is asked for only if there is any new one.
func (b *groupBuilder) build(events []*conversation.Event, id conversation.ID, payloadWas func() (odb.OID, error), on basis) (*group, error) {
	if b.noKey != nil {
		return nil, fmt.Errorf("sign event %d of %s: %w", events[0].Seq, id, b.noKey)
	}
	if err := b.rewritten(id, events); err != nil {
		return nil, err
	}
	conversation.CarryNeeds(on.needs, events)
	g := &group{end: on}
	enc := b.encoder()
	repo, err := b.repository(true)
	if err != nil {
		return nil, fmt.Errorf("name the repository for event %d of %s: %w", events[0].Seq, id, err)
	}
	if repo != "" {
		enc.home = &conversation.Home{Repo: repo, ID: id}
	}
	payloadRead := false
	payloadAt := time.Time{}
	for i, e := range events {
		if e.Seq != events[0].Seq+i {
			return nil, fmt.Errorf("event %d cannot follow event %d", e.Seq, events[0].Seq+i-1)
		}
		for _, o := range e.Objects {
			g.objects = append(g.objects, odb.Object{Kind: o.Kind, OID: odb.OID(o.OID), Data: o.Data})
		}
		commit, next, err := enc.encode(e, g.end)
		if err != nil {
			return nil, err
		}
		if len(e.Payloads) > 0 {
			if !payloadRead {
				if g.payloadWas, err = payloadWas(); err != nil {
					return nil, err
				}
				payloadRead, g.payload = true, g.payloadWas
			}
			objects, head := enc.payloadObjects(e, b.payloads.present(e.Payloads), g.payload, payloadAt)
			g.objects, g.payload, payloadAt = append(g.objects, objects...), head, e.Time
		}
		if e.Seq == 0 && gitcmd.IsEmptyTree(string(next.tree)) {
			g.objects = append(g.objects, odb.Object{Kind: "tree", OID: next.tree})
		}
		g.objects = append(g.objects, commit)
		g.end = next
	}
	return g, nil
}
