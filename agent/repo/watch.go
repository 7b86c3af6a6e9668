package repo

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

// A Watch follows the conversations of a scope. It looks at their refs and lock files, and reads only the
// conversations with a change in one of these.
type Watch struct {
	repo   *Repo
	Scope  conversation.Scope
	Remote string // the conversations' remote; "" for those of here
	Tips   TipReader
	known  map[string]sighting // by ref
}

// A TipReader reads refs, and newest events.
type TipReader interface {
	Heads(scope conversation.Scope) ([]conversation.Info, error)
	Info(ctx context.Context, id conversation.ID) (conversation.Info, error)
	List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error)
}

// A sighting is the last seen state of a conversation.
type sighting struct {
	head    conversation.Head
	lock    lockState
	info    conversation.Info
	listing Summary
}

// A lockState is whether a conversation is held, and since when.
type lockState struct {
	touched time.Time
	held    bool
	pid     int
	does    string // the process's activity, by its entry
}

// ManyChanged is how many changed conversations are read one by one. More are read together.
const ManyChanged = 16

func NewWatch(r *Repo, scope conversation.Scope, remote string) *Watch {
	return &Watch{repo: r, Scope: scope, Remote: remote, Tips: r.Store, known: map[string]sighting{}}
}

// Changed finds the changes since the last call, and reports whether there are any.
func (w *Watch) Changed(ctx context.Context) (changed bool, err error) {
	heads, err := w.Heads()
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
			w.known[info.Ref] = sighting{head: head.Head, info: info, listing: w.repo.States().List(ctx, info), lock: w.lock(info, lockState{})}
			changed = true
		}
	}
	for ref, s := range w.known {
		if lock := w.lock(s.info, s.lock); lock != s.lock {
			s.lock, s.listing = lock, w.repo.States().List(ctx, s.info)
			w.known[ref] = s
			changed = true
		}
	}
	return changed, ctx.Err()
}

// List are the conversations as last seen, in any order.
func (w *Watch) List() []*Summary {
	list := make([]*Summary, 0, len(w.known))
	for _, s := range w.known {
		list = append(list, &s.listing)
	}
	return list
}

// Heads are the followed conversations, by their refs, with only their heads.
func (w *Watch) Heads() (map[string]conversation.Info, error) {
	infos, err := w.Tips.Heads(w.Scope)
	heads := map[string]conversation.Info{}
	for _, i := range infos {
		if i.Remote == w.Remote || i.Remote != "" && w.Remote == AnyRemote {
			heads[i.Ref] = i
		}
	}
	return heads, err
}

// changed are the conversations with other heads than the last ones.
func (w *Watch) changed(heads map[string]conversation.Info) (changed []conversation.Info) {
	for ref, head := range heads {
		if seen, ok := w.known[ref]; !ok || seen.head != head.Head {
			changed = append(changed, head)
		}
	}
	return changed
}

// read reads the heads and summaries of conversations, and of others too if that is less work.
func (w *Watch) read(ctx context.Context, changed []conversation.Info) (infos []conversation.Info, err error) {
	if len(changed) > ManyChanged || len(changed) > 0 && w.Remote != "" {
		return w.Tips.List(ctx, w.Scope)
	}
	for _, seen := range changed {
		info, err := w.Tips.Info(ctx, seen.ID)
		switch {
		case errors.Is(err, conversation.ErrNotFound):
			continue // deleted just now
		case info.Ref == "": // its ref is unreadable
			info, info.Err = seen, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// lock is whether a conversation is held. It asks for the lock only if a process
// has had it since: asking for it is, for a moment, having it.
func (w *Watch) lock(i conversation.Info, before lockState) lockState {
	file, err := os.Stat(filepath.Join(w.repo.Locks.Dir, string(i.ID)+".lock"))
	if err != nil || i.Remote != "" {
		return lockState{}
	}
	if !before.held && before.touched.Equal(file.ModTime()) {
		return before
	}
	holder, held := w.repo.Locks.Held(i.ID)
	return lockState{touched: file.ModTime(), held: held, pid: holder.PID, does: w.doing(i.ID, holder, held)}
}

// doing is a process's activity by its entry, as far as lists show it.
func (w *Watch) doing(id conversation.ID, holder process.Holder, held bool) string {
	if !held {
		return ""
	}
	e := w.repo.States().entryOf(id, holder)
	return fmt.Sprint(e.Status, e.Attached)
}
