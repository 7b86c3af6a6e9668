package packing

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jp/gitcmd"
	"jp/gitstore/odb"
)

// A Size is a number of objects, and their bytes on the disk.
type Size struct {
	Objects int
	Bytes   int64
}

// Waiting is the number and size of the objects that the next Pack would take. When ctx ends, it is the
// count so far, with the error.
func (p *Packer) Waiting(ctx context.Context) (s Size, err error) {
	spans, err := p.loose(ctx)
	if err != nil || len(spans) == 0 {
		return s, err
	}
	var revisions strings.Builder
	for _, span := range spans {
		revisions.WriteString(span.revisions())
	}
	child, err := p.git.Start(ctx, gitcmd.Command{
		Args: []string{"rev-list", "--objects", "--no-object-names", "--unpacked", "--exclude-promisor-objects", "--stdin"},
		Env:  []string{"GIT_DIR=" + p.dir, "GIT_NO_LAZY_FETCH=1"},
	})
	if err != nil {
		return s, fmt.Errorf("count loose objects: %w", err)
	}
	_, err = child.Stdin.Write([]byte(revisions.String()))
	err = errors.Join(err, child.Stdin.Close())
	for lines := bufio.NewScanner(child.Stdout); lines.Scan(); {
		s.add(p.dir, lines.Text())
	}
	if err = errors.Join(err, child.Close(), context.Cause(ctx)); err != nil {
		err = fmt.Errorf("count loose objects: %w", err)
	}
	return s, err
}

// add counts an object if it is loose here, instead of in another repository's store.
func (s *Size) add(dir, oid string) {
	if _, err := odb.ParseOID(oid); err != nil {
		return
	}
	if info, err := os.Lstat(filepath.Join(dir, "objects", oid[:2], oid[2:])); err == nil {
		s.Objects++
		s.Bytes += info.Size()
	}
}

// Packs counts the packs of this package's making, and their objects.
func (p *Packer) Packs() (packs int, s Size) {
	for _, pack := range p.present(p.readState().Packs) {
		packs++
		s.Objects += pack.Objects
		if info, err := os.Lstat(p.file(pack, ".pack")); err == nil {
			s.Bytes += info.Size()
		}
	}
	return packs, s
}
