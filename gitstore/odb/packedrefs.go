package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"jp/gitcmd"
)

// packedCache is packed-refs as it was read last. It keeps the file open, so that a new one always has
// another inode.
type packedCache struct {
	mu      sync.Mutex
	file    File
	info    Info
	refs    packedRefs
	version int // counts the file's changes that jp has seen, from 1 on
}

// seen is the last version, 0 if jp has not looked at the file.
func (c *packedCache) seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// packedRefs gives the packed refs, as the file is now.
func (s *Store) packedRefs() (packedRefs, error) {
	c := &s.packed
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := s.root.Stat(packedRefsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if c.file != nil || c.version == 0 {
			c.drop()
		}
		return packedRefs{}, nil
	case err != nil:
		return packedRefs{}, fmt.Errorf("read %s: %w", packedRefsFile, err)
	case c.file != nil && c.info == info:
		return c.refs, nil
	}
	c.drop()
	return c.load(s.root, s.opts.Format)
}

func (c *packedCache) load(root Dir, format gitcmd.ObjectFormat) (packedRefs, error) {
	file, err := root.Open(packedRefsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return packedRefs{}, nil
	}
	if err != nil {
		return packedRefs{}, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return packedRefs{}, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size+bytes.MinRead))
	if _, err := data.ReadFrom(file); err != nil {
		file.Close()
		return packedRefs{}, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	refs, err := parsePackedRefs(data.Bytes(), format)
	if err != nil {
		file.Close()
		return packedRefs{}, err
	}
	refs.file = info
	c.file, c.info, c.refs = file, info, refs
	return refs, nil
}

func (c *packedCache) drop() {
	if c.file != nil {
		c.file.Close()
	}
	c.file, c.refs = nil, packedRefs{}
	c.version++
}

func (c *packedCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

// packedRefs are the lines of packed-refs, sorted by name: "<oid> <name>", and behind that of an annotated
// tag one with the value that it peels to, which has no use here. A repository may have very many of them,
// of which few are jp's: a search looks only at the lines in its way.
type packedRefs struct {
	lines  []byte
	format gitcmd.ObjectFormat
	file   Info
}

// sortedRefs is in the first line, a comment, if git has sorted the others.
const sortedRefs = " sorted "

// parsePackedRefs takes a file as git writes it. It sorts one that is not marked as sorted.
func parsePackedRefs(data []byte, format gitcmd.ObjectFormat) (packedRefs, error) {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return packedRefs{}, brokenLine(data[bytes.LastIndexByte(data, '\n')+1:])
	}
	if saysSorted(data) {
		_, rest, _ := bytes.Cut(data, []byte{'\n'})
		return packedRefs{lines: rest, format: format}, nil
	}
	return sortPacked(data, format)
}

// saysSorted reports whether the first line promises an order.
func saysSorted(data []byte) bool {
	first, _, _ := bytes.Cut(data, []byte{'\n'})
	return bytes.HasPrefix(first, []byte("#")) && bytes.Contains(append(first[:len(first):len(first)], ' '), []byte(sortedRefs))
}

// sortPacked sorts lines that may stand in any order.
func sortPacked(data []byte, format gitcmd.ObjectFormat) (packedRefs, error) {
	var refs []Ref
	for line := range bytes.Lines(data) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		r, err := packedRef(line, format)
		if err != nil {
			return packedRefs{}, err
		}
		refs = append(refs, r)
	}
	slices.SortFunc(refs, byName)
	var sorted []byte
	for _, r := range refs {
		sorted = fmt.Appendf(sorted, "%s %s\n", r.OID, r.Name)
	}
	return packedRefs{lines: sorted, format: format}, nil
}

// packedRef reads a line.
func packedRef(line []byte, format gitcmd.ObjectFormat) (Ref, error) {
	oid, name, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	if !ok || !isName(oid, format) {
		return Ref{}, brokenLine(line)
	}
	return Ref{Name: name, OID: OID(oid)}, nil
}

func brokenLine(line []byte) error { return &PackedRefsError{Line: string(line)} }

// CheckPackedRefs reads all of packed-refs, while searches read only some lines. It
// reports the first line that hides refs from git or this package: an invalid line, a
// ref of jp with a name that git forbids, or a line out of order.
func (s *Store) CheckPackedRefs() error {
	data, err := s.readPackedRefs()
	if err != nil || len(data) == 0 {
		return err
	}
	if _, err := parsePackedRefs(data, s.opts.Format); err != nil {
		return err
	}
	sorted, before := saysSorted(data), ""
	for line := range bytes.Lines(data) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		r, err := packedRef(line, s.opts.Format)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(r.Name, "refs/jp/") && CheckRefName(r.Name) != nil:
			return &PackedRefsError{Line: string(line), Why: "whose ref " + refNameFault(r.Name)}
		case sorted && r.Name < before:
			return &PackedRefsError{Line: string(line), Why: "which is not where it should be: the file says that it is sorted"}
		}
		before = r.Name
	}
	return nil
}

// readPackedRefs reads the present file; nil if there is none.
func (s *Store) readPackedRefs() ([]byte, error) {
	file, err := s.root.Open(packedRefsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	defer file.Close()
	var data bytes.Buffer
	if _, err := data.ReadFrom(file); err != nil {
		return nil, fmt.Errorf("read %s: %w", packedRefsFile, err)
	}
	return data.Bytes(), nil
}

func byName(a, b Ref) int { return strings.Compare(a.Name, b.Name) }

// from are the lines from the first one on whose name is the given one or later.
func (p packedRefs) from(name string) ([]byte, error) {
	lo, hi := 0, len(p.lines) // begins of lines, hi also the end
	for lo < hi {
		at := p.begin(lo, lo+(hi-lo)/2)
		end := p.end(at)
		r, err := packedRef(p.lines[at:end], p.format)
		if err != nil {
			return nil, err
		}
		if r.Name >= name {
			hi = at
			continue
		}
		for lo = end; lo < hi && p.lines[lo] == '^'; {
			lo = p.end(lo)
		}
	}
	return p.lines[lo:], nil
}

// begin is the start of the ref around a place in the lines, lo at least.
func (p packedRefs) begin(lo, place int) int {
	at := lo + bytes.LastIndexByte(p.lines[lo:place], '\n') + 1
	for at > lo && p.lines[at] == '^' {
		at = lo + bytes.LastIndexByte(p.lines[lo:at-1], '\n') + 1
	}
	return at
}

// end is the end of the line that begins at a place.
func (p packedRefs) end(at int) int { return at + bytes.IndexByte(p.lines[at:], '\n') + 1 }

// find returns the packed value of a ref, empty if there is none.
func (p packedRefs) find(name string) (OID, error) {
	lines, err := p.from(name)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	r, err := packedRef(lines[:bytes.IndexByte(lines, '\n')], p.format)
	if err != nil || r.Name != name {
		return "", err
	}
	return r.OID, nil
}

// below gives the refs whose names start with prefix, sorted by name.
func (p packedRefs) below(prefix string) (refs []Ref, err error) {
	lines, err := p.from(prefix)
	for line := range bytes.Lines(lines) {
		if line[0] == '^' {
			continue
		}
		r, err := packedRef(line, p.format)
		if err != nil {
			return refs, err
		}
		if !strings.HasPrefix(r.Name, prefix) {
			break
		}
		refs = append(refs, r)
	}
	return refs, err
}
