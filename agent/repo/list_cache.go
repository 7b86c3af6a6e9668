package repo

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
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

	listMagic = "jp-list 2\n"
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

// A listEntry is what a list said of one conversation.
type listEntry struct {
	file    odb.RefStamp
	summary Summary
}

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
func (c *listCache) of(refs []string) []*Summary {
	list := make([]*Summary, len(refs))
	for i, ref := range refs {
		list[i] = &c.entries[ref].summary
	}
	return list
}

// with is the cache for a list of idle conversations. files are those of the refs that were read.
func (c *listCache) with(list []*Summary, files map[string]odb.RefStamp, taken time.Time) *listCache {
	entries := make(map[string]*listEntry, len(list))
	for _, l := range list {
		if e := c.entries[l.Ref]; e != nil && &e.summary == l {
			entries[l.Ref] = e
		} else if file := files[l.Ref]; file != (odb.RefStamp{}) {
			entries[l.Ref] = &listEntry{file, *l}
		}
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
		for _, part := range e.file {
			w.number(int(part))
		}
		w.summary(e.summary)
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
		for n := range e.file {
			e.file[n] = uint64(f.number())
		}
		f.summary(&e.summary)
		byRef[e.summary.Ref] = e
	}
	if !f.failed && f.at == len(f.data) {
		c.taken, c.entries = taken, byRef
	}
}
