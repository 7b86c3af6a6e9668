package gitstore

import (
	"context"
	"slices"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/gitstore/sidecar"
)

// Candidates is [Store.List] without the conversations of which it is known that
// nothing passes a sieve, neither an event nor the title: what a search begins with.
// Of those it is not known whether their objects are still there.
func (s *Store) Candidates(ctx context.Context, scope conversation.Scope, sieve conversation.Sieve) ([]conversation.Info, error) {
	if len(sieve.Any) == 0 || !s.cacheable() {
		return s.List(ctx, scope)
	}
	infos, err := s.Heads(scope)
	if err != nil {
		return nil, err
	}
	excluded := make([]bool, len(infos))
	each(ctx, infos, func(i int) {
		head, err := odb.ParseOID(string(infos[i].Head))
		if excluded[i] = err == nil && s.cached(infos[i]).excludes(head, sieve); !excluded[i] && infos[i].Err == nil {
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

// excludes reports whether nothing of a conversation can be of interest. Of the others
// it keeps for the Sift that follows what has been found.
func (c *cached) excludes(head odb.OID, sieve conversation.Sieve) bool {
	defer c.free()
	places, _, ok := c.look(head, sieve)
	if !ok {
		return false
	}
	if len(places) == 0 && !slices.ContainsFunc(sieve.Any, c.words.MayAside) {
		return true
	}
	c.store.found.Store(c.path, &found{head, sieve, places})
	return false
}

// found are the records of a conversation that a sieve passes.
type found struct {
	head   odb.OID
	sieve  conversation.Sieve
	places []sidecar.Place
}

// recall reads the records again that were found for the same sieve, once.
func (c *cached) recall(head odb.OID, sieve conversation.Sieve) (records []sidecar.Record, ok bool) {
	kept, ok := c.store.found.LoadAndDelete(c.path)
	if !ok {
		return nil, false
	}
	f := kept.(*found)
	if f.head != head || f.sieve.Fold != sieve.Fold || !slices.Equal(f.sieve.Any, sieve.Any) {
		return nil, false
	}
	records, c.buffer, ok = sidecar.Pick(c.path+logSuffix, f.places, c.buffer)
	return records, ok
}
