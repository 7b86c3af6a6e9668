package odb

import (
	"io"
	"slices"
	"strings"
	"sync"
)

// listings are git's answers about the refs of a reftable. They hold as long as the list of tables is the
// same: each transaction of git adds a table, whose name has a number of its own.
type listings struct {
	mu     sync.Mutex
	tables string // the list of tables at that time
	of     map[string]listing
	misses int // number of questions about other refs, with these tables
}

// fewMisses is the number of questions about some refs alone, before git lists their folders.
const fewMisses = 3

// A listing has the refs that are, or are below, one name. If the name ends with a slash, those
// are all of a folder.
type listing struct {
	refs   []Ref // sorted by name
	faults []*UnreadableRef
}

// maxTables bounds the list of tables that is read. git keeps it at some dozen.
const maxTables = 64 << 10

// readTables is the list of tables, or "" if it is unreliable.
func readTables(root Dir) string {
	file, err := root.Open(tableList)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxTables+1))
	if err != nil || len(text) > maxTables {
		return ""
	}
	return string(text)
}

// recall returns git's answers about some names from the time of these tables. known is false if an answer
// is missing. Then ask are the names to ask git for.
func (l *listings) recall(tables string, names []string) (found listing, ask []string, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tables == "" {
		return listing{}, names, false
	}
	if tables != l.tables {
		l.tables, l.of, l.misses = tables, map[string]listing{}, 0
	}
	for _, name := range names {
		all, ok := l.above(name)
		if !ok {
			if l.misses++; l.misses <= fewMisses {
				return listing{}, names, false
			}
			for _, name := range names {
				ask = append(ask, folderOf(name))
			}
			return listing{}, ask, false
		}
		found = found.with(all.below(name))
	}
	return found, nil, true
}

// has reports whether recall knows a name.
func (l *listings) has(tables, name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tables == "" || tables != l.tables {
		return false
	}
	_, ok := l.above(name)
	return ok
}

// with is two listings in one.
func (l listing) with(other listing) listing {
	refs := slices.SortedFunc(slices.Values(slices.Concat(l.refs, other.refs)), byName)
	return listing{slices.Compact(refs), slices.Concat(l.faults, other.faults)}
}

// above is the listing of a name, or of a folder that it is in.
func (l *listings) above(name string) (listing, bool) {
	if all, ok := l.of[name]; ok {
		return all, true
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '/' {
			if all, ok := l.of[name[:i+1]]; ok {
				return all, true
			}
		}
	}
	return listing{}, false
}

// remember keeps git's answers about some names from the time of these tables.
func (l *listings) remember(tables string, names []string, all listing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tables == "" || tables != l.tables {
		return
	}
	for _, name := range names {
		l.of[name] = all.below(name)
	}
}

// below is the part of a listing that is, or is below, a name. It shares only unchanging memory.
func (l listing) below(name string) (part listing) {
	folder := strings.TrimSuffix(name, "/") + "/"
	if i, found := slices.BinarySearchFunc(l.refs, Ref{Name: name}, byName); found {
		part.refs = append(part.refs, l.refs[i])
	}
	i, _ := slices.BinarySearchFunc(l.refs, Ref{Name: folder}, byName)
	for ; i < len(l.refs) && strings.HasPrefix(l.refs[i].Name, folder); i++ {
		part.refs = append(part.refs, l.refs[i])
	}
	for _, fault := range l.faults {
		if fault.Ref == name || strings.HasPrefix(fault.Ref, folder) {
			part.faults = append(part.faults, fault)
		}
	}
	return part
}
