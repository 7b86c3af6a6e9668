package usage

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitstore"
	"jp/internal/safefile"
)

// CacheFolder has the files, below jp's folder in the git directory.
const CacheFolder = "usage"

// version rises if [usage] finds something else in the same events.
const version = 1

// A cacheEntry is the file of one conversation. It holds for one head.
type cacheEntry struct {
	Version int               `json:"v"`
	Head    conversation.Head `json:"head"`
	Calls   []Call            `json:"calls"`
	Misses  []Miss            `json:"misses"`
}

// A CachedReader reads the conversations of one repository.
type CachedReader struct {
	Store *gitstore.Store
	Own   safefile.StateDir
	Step  func()                         // is called after each conversation
	Left  func(conversation.Info, error) // is told of a conversation that cannot be read
}

// Read returns the calls and misses since a time. A call that forks share is there once.
func (r CachedReader) Read(ctx context.Context, infos []conversation.Info, since time.Time) (calls []Call, misses []Miss, err error) {
	infos = slices.Clone(infos)
	slices.SortFunc(infos, func(a, b conversation.Info) int { return strings.Compare(string(a.ID), string(b.ID)) }) // sources before forks
	seen := map[string]bool{}
	for _, i := range infos {
		if i.Err == nil && !i.Summary.LastEventAt.Before(since) {
			e, err := r.of(ctx, i)
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
	return calls, misses, nil
}

// of is what one conversation used: from its file, or from its events.
func (r CachedReader) of(ctx context.Context, i conversation.Info) (e cacheEntry, err error) {
	name := string(i.ID) + ".json"
	r.Own.Told = nil // the events say the same
	if data, err := r.Own.ReadSealed(CacheFolder, name); err == nil && json.Unmarshal(data, &e) == nil && e.Version == version && e.Head == i.Head {
		return e, nil
	}
	events, err := r.Store.Load(ctx, i.Head)
	if err != nil {
		return cacheEntry{}, err
	}
	e = cacheEntry{Version: version, Head: i.Head, Calls: Calls(i.ID, events), Misses: Misses(i.ID, events)}
	if data, err := json.Marshal(e); err == nil {
		_ = r.Own.ReplaceSealed(CacheFolder, name, data, safefile.Options{Volatile: true}) // it only saves time
	}
	return e, nil
}
