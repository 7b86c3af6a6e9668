package usage

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/safefile"
)

// CacheFolder has the files, below jp's folder in the git directory: one for each conversation with many calls, and one for
// all others.
const (
	CacheFolder = "usage"
	sharedFile  = "shared.json"
	fewCalls    = 16
)

// version rises if [Calls] or [Misses] find something else in the same events.
const version = 1

// A cacheEntry is the usage of one conversation at one head.
type cacheEntry struct {
	Version int               `json:"v"`
	Head    conversation.Head `json:"head"`
	Calls   []Call            `json:"calls"`
	Misses  []Miss            `json:"misses"`
}

// A CachedReader reads the conversations of one repository.
type CachedReader struct {
	Store interface {
		Load(ctx context.Context, head conversation.Head) ([]*conversation.Event, error)
	}
	Own  safefile.StateDir
	Step func()                         // is called after each conversation
	Left func(conversation.Info, error) // is told of an unreadable conversation
}

// Read returns the calls and misses since a time. It counts a call that forks share once.
func (r CachedReader) Read(ctx context.Context, infos []conversation.Info, since time.Time) (calls []Call, misses []Miss, err error) {
	infos = slices.Clone(infos)
	slices.SortFunc(infos, func(a, b conversation.Info) int { return strings.Compare(string(a.ID), string(b.ID)) }) // sources before forks
	shared := readShared(r.Own)
	seen := map[string]bool{}
	for _, i := range infos {
		if i.Err == nil && !i.Summary.LastEventAt.Before(since) {
			e, err := r.of(ctx, i, shared)
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			if err != nil {
				r.Left(i, err)
			}
			for _, c := range e.Calls {
				if !c.Time.Before(since) && !seen[c.Commit] {
					seen[c.Commit] = true
					calls = append(calls, c)
				}
			}
			for _, m := range e.Misses {
				if !m.Time.Before(since) {
					misses = append(misses, m)
				}
			}
		}
		r.Step()
	}
	there := make(map[conversation.ID]bool, len(infos))
	for _, i := range infos {
		there[i.ID] = true
	}
	for id := range shared.entries {
		if !there[id] {
			shared.drop(id)
		}
	}
	shared.write(r.Own)
	return calls, misses, nil
}

// sharedEntries are those of the conversations with few calls, of which a repository may have very many.
type sharedEntries struct {
	entries map[conversation.ID]cacheEntry
	changed bool
}

func readShared(own safefile.StateDir) *sharedEntries {
	s := &sharedEntries{}
	own.Told = nil // the events say the same
	if data, err := own.ReadSealed(CacheFolder, sharedFile); err != nil || json.Unmarshal(data, &s.entries) != nil || s.entries == nil {
		s.entries = map[conversation.ID]cacheEntry{}
	}
	return s
}

func (s *sharedEntries) drop(id conversation.ID) {
	_, had := s.entries[id]
	delete(s.entries, id)
	s.changed = s.changed || had
}

func (s *sharedEntries) write(own safefile.StateDir) {
	if data, err := json.Marshal(s.entries); s.changed && err == nil {
		_ = own.ReplaceSealed(CacheFolder, sharedFile, data, safefile.Options{Volatile: true}) // it only saves time
	}
}

// Forget removes the kept sums of a conversation.
func Forget(own safefile.StateDir, id conversation.ID) {
	_ = own.Remove(CacheFolder, fileOf(id)) // there may be none
	shared := readShared(own)
	shared.drop(id)
	shared.write(own)
}

func fileOf(id conversation.ID) string { return string(id) + ".json" }

// of is the usage of one conversation: as kept, or by its events.
func (r CachedReader) of(ctx context.Context, i conversation.Info, shared *sharedEntries) (e cacheEntry, err error) {
	holds := func(e cacheEntry) bool { return e.Version == version && e.Head == i.Head }
	if e = shared.entries[i.ID]; holds(e) {
		return e, nil
	}
	name := fileOf(i.ID)
	r.Own.Told = nil // the events say the same
	data, failed := r.Own.ReadSealed(CacheFolder, name)
	if e = (cacheEntry{}); failed != nil || json.Unmarshal(data, &e) != nil || !holds(e) {
		events, err := r.Store.Load(ctx, i.Head)
		if err != nil {
			return cacheEntry{}, err
		}
		e = cacheEntry{Version: version, Head: i.Head, Calls: Calls(i.ID, events), Misses: Misses(i.ID, events)}
	} else if len(e.Calls) > fewCalls {
		return e, nil
	}
	if len(e.Calls) <= fewCalls {
		shared.entries[i.ID], shared.changed = e, true
		_ = r.Own.Remove(CacheFolder, name) // there may be none
		return e, nil
	}
	shared.drop(i.ID)
	if data, err := json.Marshal(e); err == nil {
		_ = r.Own.ReplaceSealed(CacheFolder, name, data, safefile.Options{Volatile: true}) // it only saves time
	}
	return e, nil
}
