package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"jp/conversation"
	"jp/process"
)

// A watch follows the conversations of a scope. It looks at their refs and lock
// files, and reads only the conversations of which one of these has changed.
type watch struct {
	repo   *repo
	scope  conversation.Scope
	remote string // of which remote they are; "" for those of here
	tips   tipReader
	known  map[string]sighting // by ref
}

// A tipReader reads refs, and newest events.
type tipReader interface {
	Heads(scope conversation.Scope) ([]conversation.Info, error)
	Info(ctx context.Context, id conversation.ID) (conversation.Info, error)
	List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error)
}

// A sighting is how a conversation was last seen.
type sighting struct {
	head    conversation.Head
	lock    lockState
	info    conversation.Info
	listing listing
}

// A lockState is whether a conversation is held, and since when that is so.
type lockState struct {
	touched time.Time
	held    bool
	pid     int
	does    string // what the process tells of itself
}

// manyChanged is how many changed conversations are read one by one; more are
// read together.
const manyChanged = 16

func newWatch(r *repo, scope conversation.Scope, remote string) *watch {
	return &watch{repo: r, scope: scope, remote: remote, tips: r.store, known: map[string]sighting{}}
}

// look finds out what has changed since it was called last, and whether anything
// has.
func (w *watch) look(ctx context.Context) (changed bool, err error) {
	heads, err := w.heads()
	if err != nil {
		return false, err
	}
	infos, err := w.read(ctx, w.changed(heads))
	if err != nil {
		return false, err
	}
	for ref := range w.known {
		if _, there := heads[ref]; !there {
			delete(w.known, ref)
			changed = true
		}
	}
	for _, info := range infos {
		if head, ok := heads[info.Ref]; ok {
			w.known[info.Ref] = sighting{head: head.Head, info: info, listing: w.repo.states().list(ctx, info), lock: w.lock(info, lockState{})}
			changed = true
		}
	}
	for ref, s := range w.known {
		if lock := w.lock(s.info, s.lock); lock != s.lock {
			s.lock, s.listing = lock, w.repo.states().list(ctx, s.info)
			w.known[ref] = s
			changed = true
		}
	}
	return changed, ctx.Err()
}

// list are the conversations as they were seen last, in no order.
func (w *watch) list() []listing {
	list := make([]listing, 0, len(w.known))
	for _, s := range w.known {
		list = append(list, s.listing)
	}
	return list
}

// heads are the conversations that are followed, by their refs, with no more than
// their heads.
func (w *watch) heads() (map[string]conversation.Info, error) {
	infos, err := w.tips.Heads(w.scope)
	heads := map[string]conversation.Info{}
	for _, i := range infos {
		if i.Remote == w.remote || i.Remote != "" && w.remote == anyRemote {
			heads[i.Ref] = i
		}
	}
	return heads, err
}

// changed are the conversations that were not seen with these heads.
func (w *watch) changed(heads map[string]conversation.Info) (changed []conversation.Info) {
	for ref, head := range heads {
		if seen, ok := w.known[ref]; !ok || seen.head != head.Head {
			changed = append(changed, head)
		}
	}
	return changed
}

// read reads what is known of conversations, and of others too where that is
// less work.
func (w *watch) read(ctx context.Context, changed []conversation.Info) (infos []conversation.Info, err error) {
	if len(changed) > manyChanged || len(changed) > 0 && w.remote != "" {
		return w.tips.List(ctx, w.scope)
	}
	for _, seen := range changed {
		info, err := w.tips.Info(ctx, seen.ID)
		switch {
		case errors.Is(err, conversation.ErrNotFound):
			continue // deleted just now
		case info.Ref == "": // its ref cannot be read
			info, info.Err = seen, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// lock is whether a conversation is held. It asks for the lock only if somebody
// has had it since: asking for it is, for a moment, having it.
func (w *watch) lock(i conversation.Info, before lockState) lockState {
	file, err := os.Stat(filepath.Join(w.repo.locks.Dir, string(i.ID)+".lock"))
	if err != nil || i.Remote != "" {
		return lockState{}
	}
	if !before.held && before.touched.Equal(file.ModTime()) {
		return before
	}
	holder, held := w.repo.locks.Held(i.ID)
	return lockState{touched: file.ModTime(), held: held, pid: holder.PID, does: w.doing(i.ID, holder, held)}
}

// doing is what a process tells of itself, as far as lists show it.
func (w *watch) doing(id conversation.ID, holder process.Holder, held bool) string {
	if !held {
		return ""
	}
	e := w.repo.states().told(id, holder)
	return fmt.Sprint(e.Status, e.Attached)
}
