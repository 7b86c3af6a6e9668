package packing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jp/gitcmd"
	"jp/gitstore/odb"
)

// durable makes git flush what it writes. One thread leaves the machine to others.
var durable = []string{"core.fsync=all", "core.fsyncMethod=fsync", "pack.threads=1"}

// packLoose packs what is loose of conversations and removes the loose files, also
// those of a Pack that has begun at unended and was broken off.
func (p *Packer) packLoose(ctx context.Context, unended time.Time) (packs []made, err error) {
	spans, err := p.loose(ctx)
	if err != nil {
		return nil, err
	}
	if len(spans) > 0 {
		if packs, err = p.packSpans(ctx, spans); err != nil {
			return nil, err
		}
	}
	if len(packs) == 0 && unended.IsZero() {
		return nil, nil
	}
	if err := errors.Join(p.prove(ctx, packs), p.proveSince(ctx, unended), p.sync()); err != nil {
		return nil, err
	}
	_, err = p.git.RunWith(ctx, p.command("prune-packed", "-q"))
	return packs, err
}

// proveSince lets git read the packs that have come since a Pack was broken off.
// Which of them it has made nobody knows: they are not taken for ours.
func (p *Packer) proveSince(ctx context.Context, unended time.Time) error {
	if unended.IsZero() {
		return nil
	}
	packs, err := p.madeSince(unended)
	if err != nil {
		return err
	}
	return p.prove(ctx, packs)
}

// madeSince are the packs that have come since a time, whoever made them. Clocks of
// file systems are coarse.
func (p *Packer) madeSince(at time.Time) (packs []made, err error) {
	entries, err := os.ReadDir(p.packDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		name, isIndex := strings.CutSuffix(e.Name(), ".idx")
		info, err := e.Info()
		if isIndex && err == nil && packName(name) && info.ModTime().After(at.Add(-time.Second)) {
			packs = append(packs, made{Name: name})
		}
	}
	return packs, nil
}

// packSpans packs all spans at once. Where git cannot, because an object of one
// of them is missing or damaged, each is packed alone, and that one stays loose.
func (p *Packer) packSpans(ctx context.Context, spans []span) ([]made, error) {
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

// packObjects makes a pack of what the spans need and no pack has.
func (p *Packer) packObjects(ctx context.Context, spans []span) ([]made, error) {
	var revisions strings.Builder
	for _, s := range spans {
		revisions.WriteString(s.revisions())
	}
	c := p.command("pack-objects", "--revs", "--incremental", "--local", "--non-empty", "--exclude-promisor-objects",
		"--delta-base-offset", "-q", filepath.Join(p.packDir(), "pack"))
	c.Stdin = strings.NewReader(revisions.String())
	return p.make(ctx, c)
}

// make runs a command that prints the names of the packs it makes.
func (p *Packer) make(ctx context.Context, c gitcmd.Command) ([]made, error) {
	if err := os.MkdirAll(p.packDir(), 0o777); err != nil {
		return nil, err
	}
	out, err := p.git.RunWith(ctx, c)
	if err != nil {
		return nil, err
	}
	var packs []made
	for name := range strings.FieldsSeq(string(out)) {
		packs = append(packs, made{Name: "pack-" + name})
	}
	return packs, p.sync()
}

// prove lets another git read every object of the packs, and counts them.
func (p *Packer) prove(ctx context.Context, packs []made) error {
	for i, pack := range packs {
		_, err := p.git.RunWith(ctx, p.command("verify-pack", p.file(pack, ".idx")))
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrUnread, pack.Name, err)
		}
		objects, err := p.list(ctx, pack)
		if err != nil {
			return err
		}
		packs[i].Objects = len(objects)
	}
	return nil
}

// list is what is in a pack by its index.
func (p *Packer) list(ctx context.Context, pack made) (objects []odb.OID, err error) {
	index, err := os.Open(p.file(pack, ".idx"))
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
	for line := range strings.Lines(string(out)) { // where it begins, the object, a checksum
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

func (p *Packer) file(pack made, suffix string) string {
	return filepath.Join(p.packDir(), pack.Name+suffix)
}

func (p *Packer) command(args ...string) gitcmd.Command {
	return gitcmd.Command{Args: args, Config: durable, Env: []string{"GIT_DIR=" + p.dir, "GIT_NO_LAZY_FETCH=1"}}
}
