package packing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/internal/safefile"
)

// settings make git flush its files, and write one pack with an index that everybody can read. One thread,
// and a bound for the memory of deltas, leave the machine to others.
var settings = []string{"core.fsync=all", "core.fsyncMethod=fsync", "pack.threads=1", "pack.windowMemory=256m", "pack.packSizeLimit=0", "pack.indexVersion=2"}

// packLoose packs the loose objects of conversations and removes the loose files, also those of packs for
// which an earlier removal was interrupted.
func (p *Packer) packLoose(ctx context.Context, s *state) (packed int, err error) {
	if err := p.endRemovals(ctx, s); err != nil {
		return 0, err
	}
	spans, err := p.loose(ctx)
	if err != nil || len(spans) == 0 {
		return 0, err
	}
	added, err := p.packSpans(ctx, spans)
	if err != nil {
		return 0, errors.Join(err, p.tidy())
	}
	for i := range added {
		added[i].Loose, packed = true, packed+added[i].Objects
	}
	if err := p.install(s, added); err != nil {
		return 0, err
	}
	for i := range s.Packs {
		if pack := &s.Packs[i]; contains(added, *pack) {
			if err := p.removeLoose(ctx, pack); err != nil {
				return packed, err
			}
		}
	}
	return packed, nil
}

// endRemovals removes the loose files of packs for which that was broken off. It may
// have been before the packs' names were on the disk.
func (p *Packer) endRemovals(ctx context.Context, s *state) error {
	flushed := false
	for i := range s.Packs {
		pack := &s.Packs[i]
		if !pack.Loose || p.verify(ctx, *pack, p.packDir()) != nil {
			continue
		}
		if !flushed {
			if err := p.files.Sync(p.packDir()); err != nil {
				return err
			}
			flushed = true
		}
		if err := p.removeLoose(ctx, pack); err != nil {
			return err
		}
	}
	return nil
}

// removeLoose removes the loose files of a pack's objects. Those of objects that only packs of others have
// stay: no reader has read these packs.
func (p *Packer) removeLoose(ctx context.Context, pack *packRecord) error {
	objects, err := p.list(ctx, *pack, p.packDir())
	if err != nil {
		return err
	}
	if !p.placed(*pack) {
		return fmt.Errorf("%w: %s was removed meanwhile", ErrUnread, pack.Name)
	}
	for _, oid := range objects {
		err := p.files.Remove(filepath.Join(p.dir, "objects", string(oid[:2]), string(oid[2:])))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	pack.Loose = false
	return nil
}

// packSpans packs all spans at once. If git cannot, because an object of one of them is missing or damaged,
// it packs each alone, and that one stays loose.
func (p *Packer) packSpans(ctx context.Context, spans []span) ([]packRecord, error) {
	packs, err := p.packObjects(ctx, spans)
	var exit *gitcmd.ExitError
	if !errors.As(err, &exit) || len(spans) == 1 {
		return packs, err
	}
	packed := false
	for _, s := range spans {
		some, failed := p.packObjects(ctx, []span{s})
		if failed != nil && !errors.As(failed, &exit) {
			return packs, failed
		}
		packs, packed = append(packs, some...), packed || failed == nil
	}
	if !packed {
		return nil, err
	}
	return packs, nil
}

// packObjects makes a pack of the objects that the spans need and no pack has.
func (p *Packer) packObjects(ctx context.Context, spans []span) ([]packRecord, error) {
	var revisions strings.Builder
	for _, s := range spans {
		revisions.WriteString(s.revisions())
	}
	c := p.command("pack-objects", "--revs", "--incremental", "--local", "--non-empty", "--exclude-promisor-objects",
		"--delta-base-offset", "-q", filepath.Join(p.work, "pack"))
	c.Stdin = strings.NewReader(revisions.String())
	return p.make(ctx, c)
}

func (p *Packer) makeFolder(path string) error {
	return safefile.MakeFolders(path, 0o777, p.git.Share)
}

// make runs a command that prints the names of the packs it makes, and lets another
// git read every object of them.
func (p *Packer) make(ctx context.Context, c gitcmd.Command) (packs []packRecord, err error) {
	if err := errors.Join(p.makeFolder(p.packDir()), p.makeFolder(p.work)); err != nil {
		return nil, err
	}
	out, err := p.git.RunWith(ctx, c)
	if err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(string(out)) {
		pack := packRecord{Name: "pack-" + name}
		if info, err := os.Lstat(filepath.Join(p.work, pack.Name+".pack")); err == nil {
			pack.bytes = info.Size()
		}
		if err := p.verify(ctx, pack, p.work); err != nil {
			return nil, err
		}
		objects, err := p.list(ctx, pack, p.work)
		if err != nil {
			return nil, err
		}
		pack.Objects = len(objects)
		packs = append(packs, pack)
	}
	return packs, nil
}

// verify lets git read every object of a pack in a folder.
func (p *Packer) verify(ctx context.Context, pack packRecord, dir string) error {
	if _, err := p.git.RunWith(ctx, p.command("verify-pack", filepath.Join(dir, pack.Name+".idx"))); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnread, pack.Name, err)
	}
	return nil
}

// list are a pack's objects by its index.
func (p *Packer) list(ctx context.Context, pack packRecord, dir string) (objects []odb.OID, err error) {
	index, err := os.Open(filepath.Join(dir, pack.Name+".idx"))
	if err != nil {
		return nil, err
	}
	defer index.Close()
	c := p.command("show-index")
	c.Stdin = index
	out, err := p.git.RunWith(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnread, pack.Name, err)
	}
	for line := range strings.Lines(string(out)) { // the offset, the object, a checksum
		fields := strings.Fields(line)
		if len(fields) < 2 {
			return nil, fmt.Errorf("%w: the index of %s: %q", ErrUnread, pack.Name, line)
		}
		oid, err := odb.ParseOID(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%w: the index of %s: %w", ErrUnread, pack.Name, err)
		}
		objects = append(objects, oid)
	}
	return objects, nil
}

func (p *Packer) command(args ...string) gitcmd.Command {
	return gitcmd.Command{Args: args, Config: settings, Env: []string{"GIT_DIR=" + p.dir, "GIT_NO_LAZY_FETCH=1"}}
}
