package repo

import (
	"context"
	"errors"
	"math"
	"path"
	"slices"
	"sync"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// All describes the conversations of a scope in any order: those of a remote, or of all remotes for
// [AnyRemote]. It reads no events of conversations that are unchanged since the last list.
func (r States) All(ctx context.Context, scope conversation.Scope, remote string) ([]*Summary, error) {
	return r.Newest(ctx, scope, remote, math.MaxInt)
}

// Newest is All for callers that need only the active and waiting conversations, and the n most recently
// active of the others. It leaves out other unchanged ones.
func (r States) Newest(ctx context.Context, scope conversation.Scope, remote string, n int) ([]*Summary, error) {
	return r.all(ctx, scope, remote, listCacheFrom, n)
}

// all is Newest. It keeps a list if the scope has at least from conversations.
func (r States) all(ctx context.Context, scope conversation.Scope, remote string, from, newest int) ([]*Summary, error) {
	cache := r.listCacheOf(scope)
	if cache == nil {
		infos, err := r.repo.Store.List(ctx, scope)
		if remote != "" {
			infos = ofRemote(infos, remote)
		}
		return r.describe(ctx, infos), err
	}
	taken := r.repo.Locks.LastTaken()
	known := &gitstore.KnownList{Same: cache.same}
	var mu sync.Mutex
	var idle []*Summary // that were read
	others, err := r.repo.Store.ListBeside(ctx, scope, known, func(i conversation.Info) bool {
		l, is := r.idle(ctx, i)
		if is {
			mu.Lock()
			defer mu.Unlock()
			idle = append(idle, l)
		}
		return is
	})
	if err != nil {
		return nil, err
	}
	unchanged := cache.of(known.Unchanged)
	var probed []conversation.ID
	if taken.IsZero() || !taken.Equal(cache.taken) {
		for _, e := range unchanged {
			probed = append(probed, e.id())
		}
	}
	for _, l := range idle {
		probed = append(probed, conversation.ID(l.ID))
	}
	for _, i := range others {
		probed = append(probed, i.ID)
	}
	r.held = map[conversation.ID]bool{}
	for _, id := range r.repo.Locks.HeldAmong(probed) {
		r.held[id] = true
	}
	var again []string // refs of conversations to describe by their events after all
	unchanged = slices.DeleteFunc(unchanged, func(e *listEntry) bool {
		if r.held[e.id()] {
			again = append(again, e.ref)
		}
		return r.held[e.id()]
	})
	idle = slices.DeleteFunc(idle, func(l *Summary) bool {
		if r.held[conversation.ID(l.ID)] {
			again = append(again, l.Ref)
		}
		return r.held[conversation.ID(l.ID)]
	})
	list, decoder := slices.Clone(idle), listDecoder{}
	for _, e := range newestEntries(unchanged, newest) {
		if l, ok := decoder.summary(e); ok {
			list = append(list, l)
		} else {
			again = append(again, e.ref)
		}
	}
	for _, ref := range again {
		id := conversation.ID(path.Base(ref))
		i, err := r.repo.Store.Info(ctx, id)
		if errors.Is(err, conversation.ErrNotFound) {
			continue // deleted just now
		}
		if i.Ref == "" { // its ref has become unreadable
			i = conversation.Info{ID: id, Ref: ref, Err: err}
		}
		others = append(others, i)
	}
	n := len(unchanged) + len(idle) + len(others)
	idle = slices.DeleteFunc(idle, func(l *Summary) bool { return known.Files[l.Ref] == odb.RefStamp{} })
	switch {
	case n < from && len(cache.entries) > 0:
		_ = r.repo.StateDir().Remove(listsFolder, string(scope)) // if it stays, it still holds
	case n >= from && !(len(idle) == 0 && len(unchanged) == len(cache.entries) && taken.Equal(cache.taken)):
		r.writeListCache(scope, cache.with(unchanged, idle, known.Files, taken))
	}
	return append(list, r.describe(ctx, others)...), ctx.Err()
}

func (r States) describe(ctx context.Context, infos []conversation.Info) (list []*Summary) {
	for _, i := range infos {
		if ctx.Err() != nil {
			break
		}
		l := r.List(ctx, i)
		list = append(list, &l)
	}
	return list
}

// idle describes a conversation if it is idle. The description holds until the conversation gets a new event
// or a process takes it. idle leaves open whether a process has it now.
func (r States) idle(ctx context.Context, i conversation.Info) (l *Summary, is bool) {
	if s := i.Summary; i.Err != nil || s.Status != conversation.StatusIdle || s.Inquiry != nil || len(s.Open) > 0 {
		return nil, false
	}
	judged := r.judged(ctx, i)
	judged.Status.State = "idle"
	return &judged, !judged.Unsure && judged.Standing != conversation.StandingRolledBack
}
