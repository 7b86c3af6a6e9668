package contextfiles

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"jp/gitcmd"
	"jp/instructions"
)

type objectReader interface {
	ReadObject(oid string) (kind string, data []byte, err error)
}

// A gitTree is a tree of git's, as a place to look for files.
type gitTree struct {
	ctx     context.Context
	oid     string // "" for an empty one
	objects objectReader
	git     *gitcmd.Git
	folders map[string]map[string]treeEntry // as read, by path
}

type treeEntry struct {
	mode fs.FileMode
	oid  string
}

var _ instructions.Tree = (*gitTree)(nil)

// folder reads a folder. It is empty if it is missing or another kind of entry.
func (t *gitTree) folder(p string) (map[string]treeEntry, error) {
	if entries, ok := t.folders[p]; ok {
		return entries, nil
	}
	oid := t.oid
	if p != "." {
		e, err := t.entry(p)
		if err != nil {
			return nil, err
		}
		oid = ""
		if e.mode.IsDir() {
			oid = e.oid
		}
	}
	entries := map[string]treeEntry{}
	if oid != "" {
		data, err := t.tree(oid)
		if err == nil {
			entries, err = readTree(data, len(oid)/2)
		}
		if err != nil {
			return nil, fmt.Errorf("read tree %.10s: %w", oid, err)
		}
	}
	t.folders[p] = entries
	return entries, nil
}

// tree is the content of a tree object, from git if the object store lacks it.
func (t *gitTree) tree(oid string) ([]byte, error) {
	if kind, data, err := t.objects.ReadObject(oid); err == nil && kind == "tree" {
		return data, nil
	}
	return t.git.Run(t.ctx, "cat-file", "tree", oid)
}

func readTree(data []byte, size int) (map[string]treeEntry, error) {
	entries := map[string]treeEntry{}
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		if !ok || !ok2 || len(rest) < size {
			return nil, fmt.Errorf("its entries are damaged")
		}
		entries[name] = treeEntry{modeOf(mode), hex.EncodeToString(rest[:size])}
		data = rest[size:]
	}
	return entries, nil
}

func modeOf(mode string) fs.FileMode {
	switch mode {
	case "40000", "040000":
		return fs.ModeDir
	case "120000":
		return fs.ModeSymlink
	case "160000": // another repository's
		return fs.ModeIrregular
	}
	return 0
}

func (t *gitTree) entry(p string) (treeEntry, error) {
	folder, err := t.folder(path.Dir(p))
	if err != nil {
		return treeEntry{}, err
	}
	e, ok := folder[path.Base(p)]
	if !ok {
		return e, fs.ErrNotExist
	}
	return e, nil
}

// Look implements [instructions.Tree].
func (t *gitTree) Look(p string) (instructions.Entry, error) {
	e, err := t.entry(p)
	if err != nil || e.mode != fs.ModeSymlink {
		return instructions.Entry{Mode: e.mode}, err
	}
	link, err := t.git.Run(t.ctx, "cat-file", "blob", e.oid)
	if len(link) > 0 && link[0] == '/' {
		link = []byte("..") // outside of the tree
	}
	return instructions.Entry{Mode: e.mode, Link: string(link)}, err
}

// Read implements [instructions.Tree].
func (t *gitTree) Read(p string) (instructions.Content, error) {
	e, err := t.entry(p)
	if err != nil {
		return instructions.Content{}, err
	}
	size, err := t.git.Run(t.ctx, "cat-file", "-s", e.oid)
	if err != nil {
		return instructions.Content{}, err
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(string(size)), 10, 64); err != nil || n > instructions.MostRead {
		return instructions.Content{}, instructions.ErrLarge
	}
	data, err := t.git.Run(t.ctx, "cat-file", "blob", e.oid)
	return instructions.Content{Data: data, OID: e.oid}, err
}

// has reports whether a file of the working tree is the same in the tree.
func (t *gitTree) has(f instructions.File) (bool, error) {
	place, mode, err := instructions.Resolve(t, f.Path)
	if err != nil || place != f.Real || !mode.IsRegular() {
		return false, nil // it has another one, or none
	}
	e, err := t.entry(place)
	return err == nil && e.oid == f.OID, err
}

// knows reports whether the tree has a file in the place of one of the working tree.
func (t *gitTree) knows(f instructions.File) bool {
	_, mode, err := instructions.Resolve(t, f.Path)
	return err == nil && mode.IsRegular()
}
