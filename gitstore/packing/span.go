package packing

import (
	"bytes"
	"context"
	"strings"

	"jp/gitstore/odb"
)

// refs are below which everything belongs to conversations.
const refs = "refs/jp/"

// payloads are refs whose commits are no events.
const payloads = refs + "payloads/"

// A span is the commits of one ref that are loose: those from head down to the
// one above end, which is "" where they reach to a root.
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

// loose finds the spans of all refs. A ref that cannot be followed has none:
// what is wrong with it is for others to say.
func (p *Packer) loose(ctx context.Context) ([]span, error) {
	all, err := p.odb.ListRefs(refs)
	if err != nil && len(all) == 0 {
		return nil, err
	}
	var found []span
	seen := map[odb.OID]bool{}
	for _, ref := range all {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if seen[ref.OID] || p.odb.Packed(ref.OID) {
			continue
		}
		seen[ref.OID] = true
		end, ok := p.down(ref.OID, strings.HasPrefix(ref.Name, payloads))
		if ok {
			found = append(found, span{ref.OID, end})
		}
	}
	return found, nil
}

// down walks first parents to a commit that is packed, or that is no event. All
// commits above it became durable after it, so nothing below has to be looked
// at. What a walk has passed is passed by others once more: it is bounded by
// what is loose.
func (p *Packer) down(oid odb.OID, payload bool) (end odb.OID, ok bool) {
	for !p.odb.Packed(oid) {
		kind, data, err := p.odb.ReadObject(oid)
		if err != nil || kind != "commit" {
			return "", false
		}
		header, _, _ := bytes.Cut(data, []byte("\n\n"))
		if !payload && !bytes.Contains(header, []byte("\njp-data ")) {
			return oid, true
		}
		parent, err := firstParent(header)
		if err != nil || parent == "" {
			return "", err == nil
		}
		oid = parent
	}
	return oid, true
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
