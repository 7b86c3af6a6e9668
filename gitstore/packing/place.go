package packing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"jp/gitcmd"
)

// workFolder is beside the folders of objects. git does not look into it.
const workFolder = "jp-packing"

// suffixes are those of a pack's files, in the order in which they get their places: git ignores a pack
// without an index.
var suffixes = []string{".rev", ".pack", ".idx"}

// tidy removes the files that an interrupted Pack has left in its work folder.
func (p *Packer) tidy() error { return p.files.RemoveAll(p.work) }

// install notes that packs are ours and moves them to the others, durably. gone are
// packs that they replace.
func (p *Packer) install(s *state, packs []packRecord, gone ...packRecord) error {
	kept := without(s.Packs, packs)
	for i := range kept {
		kept[i].Gone = contains(gone, kept[i])
	}
	s.Packs = append(kept, packs...)
	if err := p.writeState(*s); err != nil {
		return err
	}
	for _, pack := range packs {
		if err := p.move(pack); err != nil {
			return errors.Join(err, p.tidy())
		}
	}
	return errors.Join(p.files.Sync(p.packDir()), p.tidy())
}

// endMoves completes the work of a killed Pack: it makes missing indexes, and removes the rest of packs
// that were being removed.
func (p *Packer) endMoves(ctx context.Context, s *state) error {
	for _, pack := range s.Packs {
		if !packName(pack.Name) || p.placed(pack) {
			continue
		}
		if _, err := os.Lstat(p.file(pack, ".pack")); err != nil {
			continue
		}
		switch {
		case pack.Gone:
			if err := p.remove(pack); err != nil {
				return err
			}
		case pack.Loose:
			// A damaged one stays as it is: the Pack has removed no file for it.
			_, err := p.git.RunWith(ctx, p.command("index-pack", p.file(pack, ".pack")))
			if exit := (*gitcmd.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				return fmt.Errorf("%w: %s: %w", ErrUnread, pack.Name, err)
			}
		}
	}
	s.Packs = p.present(s.Packs)
	for i := range s.Packs {
		s.Packs[i].Gone = false
	}
	return nil
}

// move gives the files of a pack their places, unless they have them already: the
// name of a pack is that of its bytes.
func (p *Packer) move(pack packRecord) error {
	if p.placed(pack) {
		return nil
	}
	for _, suffix := range suffixes {
		err := p.files.Rename(filepath.Join(p.work, pack.Name+suffix), p.file(pack, suffix))
		if err != nil && !(suffix == ".rev" && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// remove removes the index first.
func (p *Packer) remove(pack packRecord) error {
	for _, suffix := range slices.Backward(suffixes) {
		if err := p.files.Remove(p.file(pack, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (p *Packer) packDir() string { return filepath.Join(p.dir, "objects", "pack") }

func (p *Packer) file(pack packRecord, suffix string) string {
	return filepath.Join(p.packDir(), pack.Name+suffix)
}

func contains(packs []packRecord, pack packRecord) bool {
	return slices.ContainsFunc(packs, func(m packRecord) bool { return m.Name == pack.Name })
}

// without are the packs that are missing among others.
func without(packs, others []packRecord) (rest []packRecord) {
	for _, pack := range packs {
		if !contains(others, pack) {
			rest = append(rest, pack)
		}
	}
	return rest
}
