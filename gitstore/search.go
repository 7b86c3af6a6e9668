package gitstore

import (
	"context"
	"fmt"

	"jp/conversation"
	"jp/gitstore/odb"
)

// Scan returns the events of a conversation that a prefilter passes, oldest first, and others among them,
// but at least every discard. If the conversation is damaged, it returns the events before the damage with
// the error.
//
// It reads the conversation's sidecar, and adds the missing events to it. It does not notice damaged
// objects whose copies are in the sidecar: [Store.Load] and [Store.Verify] read the objects themselves.
func (s *Store) Scan(ctx context.Context, of conversation.Info, filter conversation.Prefilter) ([]*conversation.Event, error) {
	head, err := odb.ParseOID(string(of.Head))
	if err != nil {
		return nil, fmt.Errorf("%w: head %q", conversation.ErrNotFound, of.Head)
	}
	if !s.sidecars.usable() || of.Err != nil {
		return s.Load(ctx, of.Head)
	}
	events, err := s.sidecars.finder(of, s.sidecars.findingsFor(filter)).scan(ctx, head)
	if err != nil && ctx.Err() == nil {
		return s.Load(ctx, of.Head) // Load names the damage
	}
	return events, err
}

// Candidates is [Store.List] without the conversations in which no event and no title
// can pass a prefilter. A search begins with it. It does not check that the objects of
// searched conversations still exist.
func (s *Store) Candidates(ctx context.Context, scope conversation.Scope, filter conversation.Prefilter) ([]conversation.Info, error) {
	if len(filter.Any) == 0 || !s.sidecars.usable() {
		return s.List(ctx, scope)
	}
	infos, err := s.Heads(scope)
	if err != nil {
		return nil, err
	}
	excluded := make([]bool, len(infos))
	begun := newFindings(filter)
	s.sidecars.findings.Store(begun)
	forEach(ctx, infos, func(i int) {
		var newest *tip
		if head, err := odb.ParseOID(string(infos[i].Head)); err == nil {
			excluded[i], newest = s.sidecars.finder(infos[i], begun).excludes(head)
		}
		switch {
		case excluded[i] || infos[i].Err != nil:
		case newest != nil:
			infos[i] = newest.of(infos[i])
		default:
			infos[i] = s.info(ctx, infos[i])
		}
	})
	var candidates []conversation.Info
	for i, info := range infos {
		if !excluded[i] {
			candidates = append(candidates, info)
		}
	}
	return candidates, ctx.Err()
}

// CacheSize looks at the sidecars' files. Without any it is 0 of Limit.
func (s *Store) CacheSize() CacheSize {
	size := CacheSize{Limit: s.sidecars.limit}
	for _, f := range s.sidecars.files() {
		size.Files++
		size.Bytes += f.Size()
	}
	return size
}
