package packing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"jp/gitstore/odb"
)

// many is how many packs of about one size become one. Each object is then written
// anew three times at most for each tenfold growth of what is packed (five, nine
// and thirteen packs of the least size together), and few packs are left, each of
// which every git command opens.
const many = 5

// merge makes one pack of packs of about one size where there are many. Packs
// that are told to stay are left out.
func (p *Packer) merge(ctx context.Context, packs []made) (now []made, merged int, err error) {
	bySize := map[int][]made{}
	for _, pack := range packs {
		if _, err := os.Lstat(p.file(pack, ".keep")); err == nil {
			continue
		}
		bySize[pack.size()] = append(bySize[pack.size()], pack)
	}
	for _, some := range bySize {
		if len(some) < many {
			continue
		}
		joined, err := p.join(ctx, some)
		if err != nil {
			return packs, merged, err
		}
		packs, merged = append(without(packs, some), joined...), merged+len(some)
	}
	return packs, merged, nil
}

// size is the number of digits of the number of objects.
func (m made) size() (digits int) {
	for n := m.Objects; n > 0; n /= 10 {
		digits++
	}
	return digits
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
		objects, err := p.read(ctx, pack)
		if err != nil {
			return err
		}
		for _, oid := range objects {
			there[oid] = true
		}
	}
	for _, pack := range others {
		objects, err := p.read(ctx, pack)
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
