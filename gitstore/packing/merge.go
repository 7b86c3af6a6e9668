package packing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/gitstore/odb"
)

// growth is how many times as large a pack of ours is as all smaller ones together. So packs stay few, one
// more for each fivefold of objects, since every git command opens each of them. The price is that an
// object is rewritten some seven times until 60,000 are packed, ten until 300,000.
const growth = 4

// mostMerged is from how many objects on a pack stays as it is. To merge packs, git holds each
// of their commits in memory, which are the events: some 2 KB for each.
const mostMerged = 1 << 18

// merge joins packs that are too small for their number. Packs marked to stay are left
// out. If git keeps a multi-pack index, git merges, since it needs the packs in that
// index.
func (p *Packer) merge(ctx context.Context, s *state) (merged int, err error) {
	var free []packRecord
	for _, pack := range s.Packs {
		if _, err := os.Lstat(p.file(pack, ".keep")); err != nil && !pack.Damaged {
			free = append(free, pack)
		}
	}
	some := tooMany(free)
	if len(some) == 0 || p.hasMultiIndex() {
		return 0, nil
	}
	joined, err := p.join(ctx, some)
	if err != nil {
		p.blame(ctx, s, some)
		return 0, errors.Join(err, p.tidy())
	}
	if p.hasMultiIndex() || slices.ContainsFunc(some, func(pack packRecord) bool { return !p.placed(pack) }) {
		return 0, p.tidy() // another process was faster
	}
	gone := without(some, joined)
	for i := range joined {
		joined[i].Loose = true // until it has its place
	}
	if err := p.install(s, joined, gone...); err != nil {
		return 0, err
	}
	for _, pack := range gone {
		if err := p.remove(pack); err != nil {
			return 0, err
		}
	}
	s.Packs = without(s.Packs, gone)
	for i := range s.Packs {
		s.Packs[i].Loose = s.Packs[i].Loose && !contains(joined, s.Packs[i])
	}
	return len(some), nil
}

// blame notes the unreadable packs, so that Pack merges the others without them.
func (p *Packer) blame(ctx context.Context, s *state, packs []packRecord) {
	for i := range s.Packs {
		if pack := &s.Packs[i]; contains(packs, *pack) && ctx.Err() == nil {
			pack.Damaged = p.verify(ctx, *pack, p.packDir()) != nil
		}
	}
}

// largeBytes is from which size on the bytes of a pack count as well as its objects: two may
// have most of them in common, as versions of one file.
const largeBytes = 16 << 20

// tooMany are the packs that have to become one so that each pack has enough objects beside the
// smaller ones, and each large one enough bytes.
func tooMany(packs []packRecord) []packRecord {
	packs = slices.DeleteFunc(slices.Clone(packs), func(p packRecord) bool { return p.Objects >= mostMerged })
	some := smaller(packs, func(p packRecord) int64 { return int64(p.Objects) })
	large := slices.DeleteFunc(slices.Clone(packs), func(p packRecord) bool { return p.bytes < largeBytes })
	return append(some, without(smaller(large, func(p packRecord) int64 { return p.bytes }), some)...)
}

// smaller are the smallest packs, as many of them as have to become one so that each is large
// enough beside the smaller ones.
func smaller(packs []packRecord, size func(packRecord) int64) []packRecord {
	sorted := slices.SortedFunc(slices.Values(packs), func(a, b packRecord) int { return cmp.Compare(size(a), size(b)) })
	some, sum := 0, int64(0)
	for i, pack := range sorted {
		if size(pack) < growth*sum {
			some = i + 1
		}
		sum += size(pack)
	}
	return sorted[:some]
}

// join makes a pack of the objects of others.
func (p *Packer) join(ctx context.Context, packs []packRecord) ([]packRecord, error) {
	var names strings.Builder
	for _, pack := range packs {
		names.WriteString(pack.Name + ".pack\n")
	}
	c := p.command("pack-objects", "--stdin-packs", "--delta-base-offset", "-q", filepath.Join(p.work, "pack"))
	c.Stdin = strings.NewReader(names.String())
	joined, err := p.make(ctx, c)
	if err != nil {
		return nil, err
	}
	return joined, p.covers(ctx, joined, packs)
}

// covers checks that new packs have every object of others.
func (p *Packer) covers(ctx context.Context, joined, others []packRecord) error {
	there := map[odb.OID]bool{}
	for _, pack := range joined {
		objects, err := p.list(ctx, pack, p.work)
		if err != nil {
			return err
		}
		for _, oid := range objects {
			there[oid] = true
		}
	}
	for _, pack := range others {
		objects, err := p.list(ctx, pack, p.packDir())
		if err != nil {
			return err
		}
		for _, oid := range objects {
			if !there[oid] {
				return fmt.Errorf("%w: it lacks %.10s of %s", ErrUnread, oid, pack.Name)
			}
		}
	}
	return nil
}
