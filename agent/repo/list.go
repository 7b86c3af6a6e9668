package repo

import (
	"context"
	"errors"
	"slices"
	"sync"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// All describes the conversations of a scope, in no order: of a remote, of all for [AnyRemote].
// Of those that did nothing since the last list it reads no event.
func (r States) All(ctx context.Context, scope conversation.Scope, remote string) ([]*Summary, error) {
	return r.all(ctx, scope, remote, listCacheFrom)
}

// all is All where lists of at least so many conversations are kept.
func (r States) all(ctx context.Context, scope conversation.Scope, remote string, from int) ([]*Summary, error) {
	cache := r.listCacheOf(scope)
	if cache == nil {
		infos, err := r.repo.Store.List(ctx, scope)
		if remote != "" {
			infos = OfRemote(infos, remote)
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
	probed := idle
	if taken.IsZero() || !taken.Equal(cache.taken) {
		probed = slices.Concat(unchanged, idle)
	}
	r.held = r.heldAmong(probed, others)
	list := make([]*Summary, 0, len(unchanged)+len(idle)+len(others))
	for _, l := range slices.Concat(unchanged, idle) {
		id := conversation.ID(l.ID)
		if !r.held[id] {
			list = append(list, l)
			continue
		}
		i, err := r.repo.Store.Info(ctx, id)
		if errors.Is(err, conversation.ErrNotFound) {
			continue // deleted just now
		}
		if i.Ref == "" { // its ref cannot be read any more
			i = conversation.Info{ID: id, Ref: l.Ref, Err: err}
		}
		others = append(others, i)
	}
	idle = slices.DeleteFunc(idle, func(l *Summary) bool { return known.Files[l.Ref] == odb.RefStamp{} })
	same := len(idle) == 0 && !slices.ContainsFunc(unchanged, func(l *Summary) bool { return r.held[conversation.ID(l.ID)] })
	switch n := len(list) + len(others); {
	case n < from && len(cache.entries) > 0:
		_ = r.repo.StateDir().Remove(listsFolder, string(scope)) // one that stays still holds
	case n >= from && !(same && len(unchanged) == len(cache.entries) && taken.Equal(cache.taken)):
		r.writeListCache(scope, cache.with(list, known.Files, taken))
	}
	return append(list, r.describe(ctx, others)...), ctx.Err()
}

// describe describes conversations one by one.
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

// idle describes a conversation that waits for nothing, if it is one. The description holds until
// the conversation gets a new event or a process takes it. Whether a process has it now, idle does
// not say.
func (r States) idle(ctx context.Context, i conversation.Info) (l *Summary, is bool) {
	if s := i.Summary; i.Err != nil || s.Status != conversation.StatusIdle || s.Inquiry != nil || len(s.Open) > 0 {
		return nil, false
	}
	judged := r.judged(ctx, i)
	judged.Status.State = "idle"
	return &judged, !judged.Unsure && judged.Standing != conversation.StandingRolledBack
}

// heldAmong are those of some conversations that a process holds.
func (r States) heldAmong(list []*Summary, infos []conversation.Info) map[conversation.ID]bool {
	ids := make([]conversation.ID, 0, len(list)+len(infos))
	for _, l := range list {
		ids = append(ids, conversation.ID(l.ID))
	}
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	held := map[conversation.ID]bool{}
	for _, id := range r.repo.Locks.HeldAmong(ids) {
		held[id] = true
	}
	return held
}
