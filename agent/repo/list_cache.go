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
	// listCacheFrom is how many conversations a scope has when a list of it is kept. Reading fewer
	// takes no longer than starting jp.
	listCacheFrom = 64

	listMagic = "jp-list 3\n"
)

// A listCache is what the last list of a scope said of its conversations, without those that did
// or waited for something. An entry holds as long as the conversation's ref, by its file, was not
// written since: then its newest event is the same, and no newer one was seen. The file carries a
// code by the user's key, since it says which conversations may act, and can be deleted.
type listCache struct {
	key     []byte
	about   string                // who says so of which repository: entries of others do not count
	taken   time.Time             // when a lock was taken last, as of then; see [process.Locks.LastTaken]
	entries map[string]*listEntry // by ref
}

// A listEntry is what a list said of one conversation. Its summary is decoded for who asks.
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

// id is the conversation's.
func (e *listEntry) id() conversation.ID { return conversation.ID(path.Base(e.ref)) }

// listCacheOf reads the cache of a scope, which is empty if it is damaged or another's. It is nil
// where none can be kept.
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

// with is the cache for a list of idle conversations: those whose entries hold, and those that were read. files are those of
// their refs.
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

// forgetLists removes what lists have kept of any conversation, as one is deleted, and what a
// killed jp has left of one.
func (r States) forgetLists() {
	_ = r.repo.StateDir().Empty(listsFolder) // what stays, the next list replaces
}

// code is the last part of the file.
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

// decode leaves the cache empty if the file is not by this user's jp, or of another one.
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
