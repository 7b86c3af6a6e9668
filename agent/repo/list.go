package repo

import (
	"context"
	"errors"

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
		infos, err := r.Store.List(ctx, scope)
		if err != nil {
			return nil, err
		}
		if remote != "" {
			infos = OfRemote(infos, remote)
		}
		list, _ := r.describe(ctx, infos)
		return list, ctx.Err()
	}
	taken := r.Locks.LastTaken()
	known := &gitstore.KnownList{Same: cache.same}
	read, err := r.Store.ListBeside(ctx, scope, known)
	if err != nil {
		return nil, err
	}
	held := map[conversation.ID]bool{}
	if taken.IsZero() || !taken.Equal(cache.taken) {
		held = r.heldAmong(cache.ids(known.Unchanged))
	}
	list := make([]*Summary, 0, len(known.Unchanged)+len(read))
	for _, ref := range known.Unchanged {
		e := cache.entries[ref]
		if id := conversation.ID(e.summary.ID); held[id] {
			info, err := r.Store.Info(ctx, id)
			if errors.Is(err, conversation.ErrNotFound) {
				continue // deleted just now
			}
			read = append(read, info)
			continue
		}
		list = append(list, &e.summary)
	}
	unchanged := len(list)
	fresh, idle := r.describe(ctx, read)
	list = append(list, fresh...)
	if len(list) >= from && (len(idle) > 0 || unchanged != len(cache.entries) || !taken.Equal(cache.taken)) && ctx.Err() == nil {
		kept := make(map[string]*cachedList, len(list))
		for _, l := range list[:unchanged] {
			kept[l.Ref] = cache.entries[l.Ref]
		}
		for _, l := range idle {
			if file := known.Files[l.Ref]; file != (odb.RefStamp{}) {
				kept[l.Ref] = &cachedList{file, *l}
			}
		}
		cache.taken, cache.entries = taken, kept
		r.writeListCache(scope, cache)
	}
	return list, ctx.Err()
}

// describe describes conversations that were read. idle are those of which nothing but a new
// event, or a process, can change what is said.
func (r States) describe(ctx context.Context, infos []conversation.Info) (all, idle []*Summary) {
	var ids []conversation.ID
	for _, i := range infos {
		if i.Remote == "" {
			ids = append(ids, i.ID)
		}
	}
	r.held = r.heldAmong(ids)
	for _, i := range infos {
		if ctx.Err() != nil {
			break
		}
		l := r.List(ctx, i)
		all = append(all, &l)
		if l.Err == nil && !l.Unsure && !l.SetBack && l.Status == (Status{State: "idle"}) {
			idle = append(idle, &l)
		}
	}
	return all, idle
}

// heldAmong are those of some conversations that a process holds.
func (r States) heldAmong(ids []conversation.ID) map[conversation.ID]bool {
	held := map[conversation.ID]bool{}
	for _, id := range r.Locks.HeldAmong(ids) {
		held[id] = true
	}
	return held
}
