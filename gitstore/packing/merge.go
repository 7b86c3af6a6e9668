package packing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"jp/gitstore/odb"
)

// growth is how many times as large a pack of ours is as all smaller ones together.
// Few packs are left then, one more for each fivefold of what is packed, and every git
// command opens each of them. The price is that an object is written anew some seven
// times until 60,000 are packed, ten until 300,000.
const growth = 4

// merge makes one pack of those that are too small for so many. Packs that are told
// to stay are left out.
func (p *Packer) merge(ctx context.Context, packs []made) (now []made, merged int, err error) {
	var free []made
	for _, pack := range packs {
		if _, err := os.Lstat(p.file(pack, ".keep")); err != nil {
			free = append(free, pack)
		}
	}
	some := tooMany(free)
	if len(some) == 0 {
		return packs, 0, nil
	}
	joined, err := p.join(ctx, some)
	if err != nil {
		return packs, 0, err
	}
	return append(without(packs, some), joined...), len(some), nil
}

// tooMany are the smallest packs, as many of them as have to become one so that each
// pack is large enough beside the smaller ones.
func tooMany(packs []made) []made {
	sorted := slices.SortedFunc(slices.Values(packs), func(a, b made) int { return cmp.Compare(a.Objects, b.Objects) })
	some, smaller := 0, 0
	for i, pack := range sorted {
		if pack.Objects < growth*smaller {
			some = i + 1
		}
		smaller += pack.Objects
	}
	return sorted[:some]
}

// join makes a pack of the objects of others, and removes those.
func (p *Packer) join(ctx context.Context, packs []made) ([]made, error) {
	var names strings.Builder
	for _, pack := range packs {
		names.WriteString(pack.Name + ".pack\n")
	}
	c := p.command("pack-objects", "--stdin-packs", "--delta-base-offset", "-q", p.packDir()+"/pack")
	c.Stdin = strings.NewReader(names.String())
	joined, err := p.make(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := p.prove(ctx, joined); err != nil {
		return nil, err
	}
	if err := p.covers(ctx, joined, packs); err != nil {
		return nil, err
	}
	for _, pack := range without(packs, joined) {
		if err := p.remove(pack); err != nil {
			return nil, err
		}
	}
	return joined, nil
}

// covers checks that packs have every object of others.
func (p *Packer) covers(ctx context.Context, packs, others []made) error {
	there := map[odb.OID]bool{}
	for _, pack := range packs {
		objects, err := p.list(ctx, pack)
		if err != nil {
			return err
		}
		for _, oid := range objects {
			there[oid] = true
		}
	}
	for _, pack := range others {
		objects, err := p.list(ctx, pack)
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

// remove takes the index away first: a pack without one is not looked at.
func (p *Packer) remove(pack made) error {
	for _, suffix := range []string{".idx", ".rev", ".pack"} {
		if err := os.Remove(p.file(pack, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// without is the packs that are not among others.
func without(packs, others []made) (rest []made) {
	gone := map[string]bool{}
	for _, o := range others {
		gone[o.Name] = true
	}
	for _, pack := range packs {
		if !gone[pack.Name] {
			rest = append(rest, pack)
		}
	}
	return rest
}
