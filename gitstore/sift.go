package gitstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/gitstore/sidecar"
	"jp/search/needle"
)

// Sift returns the events of a conversation that a sieve passes, oldest first,
// and others among them, but at least every discard. Where the conversation is
// damaged, the events before the damage come with the error.
//
// It reads the conversation's sidecar, and adds to it what is missing. Damage of
// objects that are in the sidecar is not found: [Store.Load] and [Store.Verify]
// read the objects themselves.
func (s *Store) Sift(ctx context.Context, of conversation.Info, sieve conversation.Sieve) ([]*conversation.Event, error) {
	head, err := odb.ParseOID(string(of.Head))
	if err != nil {
		return nil, fmt.Errorf("%w: head %q", conversation.ErrNotFound, of.Head)
	}
	if !s.cacheable() || of.Err != nil {
		return s.Load(ctx, of.Head)
	}
	c := s.cached(of)
	if c.excludes(head, sieve) {
		return nil, ctx.Err()
	}
	c.read()
	defer c.free()
	events, err := c.sift(ctx, head, sieve)
	if err != nil && ctx.Err() == nil {
		return s.Load(ctx, of.Head) // which says what is wrong
	}
	return events, err
}

// Candidates is [Store.List] without the conversations of which it is known that
// nothing passes a sieve, neither an event nor the title: what a search begins with.
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

// A cached is the sidecar of one conversation while it is used.
type cached struct {
	store *Store
	path  string
	title string
	log   *sidecar.Log
	words *sidecar.Words // nil where there are none
}

func (s *Store) cached(of conversation.Info) *cached {
	return &cached{store: s, path: s.cachePath(of), title: of.Summary.Title}
}

// excludes reports whether nothing of a conversation can be of interest.
func (c *cached) excludes(head odb.OID, sieve conversation.Sieve) bool {
	c.words, _ = sidecar.ReadWords(c.path + wordsSuffix)
	if c.words == nil || c.words.Head != idOf(head) || c.words.Text || len(sieve.Any) == 0 {
		return false
	}
	return !slices.ContainsFunc(sieve.Any, c.words.May)
}

// buffers are for logs, one at a time for each search that runs.
var buffers sync.Pool

func (c *cached) read() {
	var buffer []byte
	if kept, ok := buffers.Get().(*[]byte); ok {
		buffer = *kept
	}
	c.log = sidecar.Read(c.path+logSuffix, buffer)
}

func (c *cached) free() {
	buffer := c.log.Buffer()
	buffers.Put(&buffer)
	c.log = nil
}

// sift brings the sidecar up to the head, and decodes what the sieve passes.
func (c *cached) sift(ctx context.Context, head odb.OID, sieve conversation.Sieve) ([]*conversation.Event, error) {
	newest, err := c.update(ctx, head)
	if err != nil {
		return nil, err
	}
	var events []*conversation.Event
	needles := c.needles(sieve)
	for _, i := range c.passing(needles) {
		if i > newest {
			break
		}
		r := c.log.Record(i)
		if !stands(needles, r.Raw) {
			continue
		}
		l, err := c.event(ctx, r)
		if err != nil {
			return nil, err
		}
		events = append(events, l.event)
	}
	return events, ctx.Err()
}

// event decodes a record, which is none of the conversation's if its bytes are
// not those that its id names.
func (c *cached) event(ctx context.Context, r sidecar.Record) (*link, error) {
	object := bytes.Clone(r.Raw)
	oid := odb.OID(hex.EncodeToString(r.ID[:]))
	if odb.HashObject("commit", object) != oid {
		return nil, fmt.Errorf("%w: the sidecar's %.10s", conversation.ErrDamaged, oid)
	}
	l, err := c.store.link(stored{oid: oid, kind: "commit", object: object})
	if err != nil {
		return nil, err
	}
	return l, c.store.fill(ctx, l.event)
}

// discarded stands in each event that takes others back.
const discarded = string(conversation.TypeTurnDiscarded)

// Texts of a stored event that make it pass whatever is looked for: its text
// stands in a payload; it takes others back.
var (
	textElsewhere = needle.New(`"name":"`+conversation.PayloadText+`"`, false)
	takesBack     = needle.New(discarded, false)
)

// needles are what one of has to stand in an event; none for a sieve that passes
// everything.
func (c *cached) needles(sieve conversation.Sieve) []needle.Needle {
	var needles []needle.Needle
	for _, text := range sieve.Any {
		needles = append(needles, needle.New(text, sieve.Fold))
	}
	if len(needles) > 0 && (c.words == nil || c.words.Text) {
		needles = append(needles, textElsewhere)
	}
	return needles
}

// passing are the records in which a needle stands, and with them those that
// take others back.
func (c *cached) passing(needles []needle.Needle) []int {
	if len(needles) == 0 {
		all := make([]int, c.log.Len())
		for i := range all {
			all[i] = i
		}
		return all
	}
	found := c.log.Find(needles)
	if len(found) > 0 && (c.words == nil || c.words.May(discarded)) {
		found = append(found, c.log.Find([]needle.Needle{takesBack})...)
		slices.Sort(found)
	}
	return slices.Compact(found)
}

// stands reports whether a needle stands in what an event says, not only in
// what its commit says of the whole conversation.
func stands(needles []needle.Needle, raw []byte) bool {
	c, err := parseCommit(raw)
	if err != nil || len(needles) == 0 {
		return true // decoding it says what is wrong
	}
	for _, n := range append(slices.Clip(needles), takesBack) {
		if n.Index(c.message) >= 0 || n.Index(c.data) >= 0 {
			return true
		}
	}
	return false
}

func idOf(oid odb.OID) (id sidecar.ID) {
	_, _ = hex.Decode(id[:], []byte(oid)) // it was parsed
	return id
}
