package repo

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"path"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/safefile"
	"jp/internal/version"
)

const (
	listsFolder = "lists"
	// listCacheFrom is the size from which the list of a scope is kept. Reading fewer conversations takes no
	// longer than starting jp.
	listCacheFrom = 64

	listMagic = "jp-list 3\n"
)

// A listCache is the last list of a scope, without the conversations that were active or waiting. An entry
// holds as long as the file of the conversation's ref is unchanged: then its newest event is the same, and jp
// has seen no newer one. The file can be deleted. It carries a code by the user's key, since it records which
// conversations may act.
type listCache struct {
	key     []byte
	about   string                // its author and repository: the entries of others do not count
	taken   time.Time             // when a lock was taken last, as of then; see [process.Locks.LastTaken]
	entries map[string]*listEntry // by ref
}

// A listEntry is the entry of one conversation. Its summary is decoded on demand.
type listEntry struct {
	ref    string
	file   odb.RefStamp
	active int    // when the newest event happened, in nanoseconds since the epoch
	data   []byte // of the summary
	text   string // the same bytes
}

func newListEntry(file odb.RefStamp, l Summary) *listEntry {
	var w listEncoder
	w.summary(l)
	e := &listEntry{ref: l.Ref, file: file, data: w.data, text: string(w.data)}
	if l.LastEvent != nil {
		e.active = int(l.LastEvent.UnixNano())
	}
	return e
}

func (e *listEntry) id() conversation.ID { return conversation.ID(path.Base(e.ref)) }

// listCacheOf reads the cache of a scope, which is empty if it is damaged or another user's. It is nil if a
// cache cannot be kept.
func (r States) listCacheOf(scope conversation.Scope) *listCache {
	if scope == conversation.ScopeRemotes {
		return nil
	}
	key, err := gitstore.LoadKey(r.repo.KeyFile())
	if err != nil {
		return nil
	}
	name, err := r.repo.Standings().listedName()
	if err != nil {
		return nil
	}
	made := version.Get()
	c := &listCache{key: key, about: strings.Join([]string{name, made.Version, made.Commit}, "\n")}
	if data, err := r.repo.StateDir().Read(listsFolder, string(scope)); err == nil {
		c.decode(data)
	}
	return c
}

// same reports whether the entry of a ref holds.
func (c *listCache) same(ref string, file odb.RefStamp) bool {
	e := c.entries[ref]
	return e != nil && e.file == file
}

// of are the entries of some refs that have them.
func (c *listCache) of(refs []string) []*listEntry {
	list := make([]*listEntry, len(refs))
	for i, ref := range refs {
		list[i] = c.entries[ref]
	}
	return list
}

// newestEntries are at most n of some entries, those with the newest events.
func newestEntries(entries []*listEntry, n int) []*listEntry {
	if len(entries) <= n {
		return entries
	}
	entries = slices.SortedFunc(slices.Values(entries), func(a, b *listEntry) int {
		return cmp.Or(cmp.Compare(b.active, a.active), cmp.Compare(b.ref, a.ref))
	})
	return entries[:n]
}

// with is the cache for a list of idle conversations: the unchanged entries, and the newly read ones. files
// are the files of their refs.
func (c *listCache) with(unchanged []*listEntry, read []*Summary, files map[string]odb.RefStamp, taken time.Time) *listCache {
	entries := make(map[string]*listEntry, len(unchanged)+len(read))
	for _, e := range unchanged {
		entries[e.ref] = e
	}
	for _, l := range read {
		entries[l.Ref] = newListEntry(files[l.Ref], *l)
	}
	return &listCache{key: c.key, about: c.about, taken: taken, entries: entries}
}

// writeListCache replaces the file of a scope.
func (r States) writeListCache(scope conversation.Scope, c *listCache) {
	_ = r.repo.StateDir().Replace(listsFolder, string(scope), c.encode(), safefile.Options{Volatile: true}) // it only saves time
}

// forgetLists removes all lists, since one conversation is deleted, and the files that a killed jp left.
func (r States) forgetLists() {
	_ = r.repo.StateDir().Empty(listsFolder) // the next list replaces the rest
}

func (c *listCache) code(body []byte) []byte {
	mac := hmac.New(sha256.New, c.key)
	mac.Write(body)
	return mac.Sum(nil)
}

func (c *listCache) encode() []byte {
	w := listEncoder{data: append(make([]byte, 0, 1024+256*len(c.entries)), listMagic...)}
	w.text(c.about)
	w.time(c.taken)
	w.number(len(c.entries))
	for _, e := range c.entries {
		w.text(e.ref)
		for _, part := range e.file {
			w.number(int(part))
		}
		w.number(e.active)
		w.text(e.text)
	}
	return append(w.data, c.code(w.data)...)
}

// decode leaves the cache empty if the file comes from another user's jp or another repository.
func (c *listCache) decode(data []byte) {
	if len(data) < sha256.Size {
		return
	}
	body, code := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	values, ours := bytes.CutPrefix(body, []byte(listMagic))
	if !ours || !hmac.Equal(code, c.code(body)) {
		return
	}
	f := newListDecoder(values)
	if f.text() != c.about {
		return
	}
	taken := f.time()
	entries := make([]listEntry, f.count())
	byRef := make(map[string]*listEntry, len(entries))
	for i := range entries {
		e := &entries[i]
		e.ref = f.text()
		for n := range e.file {
			e.file[n] = uint64(f.number())
		}
		e.active, e.text = f.number(), f.text()
		e.data = f.data[f.at-len(e.text) : f.at]
		byRef[e.ref] = e
	}
	if !f.failed && f.at == len(f.data) {
		c.taken, c.entries = taken, byRef
	}
}
