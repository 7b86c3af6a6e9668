package packing

import (
	"bytes"
	"context"
	"strings"

	"jp/gitstore/odb"
)

// refs are below which everything belongs to conversations.
const refs = "refs/jp/"

// keepsPayload reports whether the commits of a ref keep payload, here or below a remote.
func keepsPayload(ref string) bool {
	return strings.Contains(strings.TrimPrefix(ref, refs+"remotes/"), "/payloads/")
}

// A span is the commits of one ref that are loose: those from head down to the one above end, which is ""
// if they reach to a root.
type span struct {
	head, end odb.OID
}

// revisions say the same to git.
func (s span) revisions() string {
	if s.end == "" {
		return string(s.head) + "\n"
	}
	return string(s.head) + "\n^" + string(s.end) + "\n"
}

// loose finds the spans of all refs. A ref that cannot be followed has none: other commands report its
// damage.
func (p *Packer) loose(ctx context.Context) ([]span, error) {
	all, err := p.odb.ListRefs(refs)
	if err != nil && len(all) == 0 {
		return nil, err
	}
	var found []span
	seen := map[odb.OID]bool{}
	events, payload := walker{p: p, passed: map[odb.OID]*walkBoundary{}}, walker{p: p, passed: map[odb.OID]*walkBoundary{}, payload: true}
	for _, ref := range all {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if seen[ref.OID] || p.odb.Packed(ref.OID) {
			continue
		}
		seen[ref.OID] = true
		walk := events
		if keepsPayload(ref.Name) {
			walk = payload
		}
		if g := walk.down(ctx, ref.OID); g.ok {
			found = append(found, span{ref.OID, g.end})
		}
	}
	return found, context.Cause(ctx)
}

// A walkBoundary is the end of a walk; ok is false if the chain cannot be followed.
type walkBoundary struct {
	end odb.OID
	ok  bool
}

// A walker walks from refs down. Each commit is passed once: thousands of forks share most of their
// commits.
type walker struct {
	p       *Packer
	payload bool // the commits keep payload
	passed  map[odb.OID]*walkBoundary
}

// down walks first parents to a commit that is packed, or is not an event. All commits above it became
// durable after it, so the walk can end there.
func (w walker) down(ctx context.Context, oid odb.OID) *walkBoundary {
	g := &walkBoundary{}
	for ctx.Err() == nil && !w.p.odb.Packed(oid) {
		if before := w.passed[oid]; before != nil {
			*g = *before
			return g
		}
		kind, data, err := w.p.odb.ReadObject(oid)
		if err != nil || kind != "commit" {
			return g
		}
		header, _, _ := bytes.Cut(data, []byte("\n\n"))
		if !w.payload && !bytes.Contains(header, []byte("\njp-data ")) {
			break
		}
		w.passed[oid] = g
		parent, err := firstParent(header)
		if err != nil || parent == "" {
			g.ok = err == nil
			return g
		}
		oid = parent
	}
	g.end, g.ok = oid, ctx.Err() == nil
	return g
}

// firstParent is "" for a root.
func firstParent(header []byte) (odb.OID, error) {
	lines := bytes.SplitN(header, []byte("\n"), 3)
	if len(lines) < 2 {
		return "", odb.ErrObjectCorrupt
	}
	hex, found := bytes.CutPrefix(lines[1], []byte("parent "))
	if !found {
		return "", nil
	}
	return odb.ParseOID(string(hex))
}
