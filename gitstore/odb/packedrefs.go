package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

const packedRefsFile = "packed-refs"

// packedCache is the parsed packed-refs. It keeps the file open, so that a new
// one can never have its inode and be taken for it.
type packedCache struct {
	mu   sync.Mutex
	file File
	info Info
	refs []Ref
}

// packedRefs gives the packed refs sorted by name, as the file is now.
func (s *Store) packedRefs() ([]Ref, error) {
	c := &s.packed
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := s.root.Stat(packedRefsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.drop()
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", packedRefsFile, err)
	case c.file != nil && c.info == info:
		return c.refs, nil
	}
	c.drop()
	return c.load(s.root)
}

func (c *packedCache) load(root Dir) ([]Ref, error) {
	file, err := root.Open(packedRefsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	refs, err := parsePackedRefs(data)
	if err != nil {
		file.Close()
		return nil, err
	}
	c.file, c.info, c.refs = file, info, refs
	return refs, nil
}

func (c *packedCache) drop() {
	if c.file != nil {
		c.file.Close()
	}
	c.file, c.refs = nil, nil
}

func (c *packedCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

// parsePackedRefs takes "<oid> <name>" lines; comments and the peeled values
// of annotated tags mean nothing here.
func parsePackedRefs(data []byte) ([]Ref, error) {
	refs := make([]Ref, 0, bytes.Count(data, []byte{'\n'}))
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		oid, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !isHex(oid) || line[len(line)-1] != '\n' {
			return nil, fmt.Errorf("%w: %s has the line %q", ErrRefBroken, packedRefsFile, line)
		}
		refs = append(refs, Ref{Name: name, OID: OID(oid)})
	}
	if !slices.IsSortedFunc(refs, byName) {
		slices.SortFunc(refs, byName)
	}
	return refs, nil
}

func byName(a, b Ref) int { return strings.Compare(a.Name, b.Name) }

// findPacked gives the packed value of a ref, empty where there is none.
func findPacked(refs []Ref, name string) OID {
	i, ok := slices.BinarySearchFunc(refs, name, func(r Ref, n string) int { return strings.Compare(r.Name, n) })
	if !ok {
		return ""
	}
	return refs[i].OID
}

// below gives the part of sorted refs whose names start with prefix.
func below(refs []Ref, prefix string) []Ref {
	start, _ := slices.BinarySearchFunc(refs, prefix, func(r Ref, p string) int { return strings.Compare(r.Name, p) })
	refs = refs[start:]
	end := slices.IndexFunc(refs, func(r Ref) bool { return !strings.HasPrefix(r.Name, prefix) })
	if end < 0 {
		return refs
	}
	return refs[:end]
}
