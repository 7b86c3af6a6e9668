package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitstore/odb"
)

// A watch follows the conversations of a scope. It looks at their refs and lock
// files, and reads only the conversations of which one of these has changed.
type watch struct {
	repo  *repo
	opts  listOptions
	refs  refLister
	tips  tipReader
	known map[string]sighting // by ref
}

// A refLister reads refs without what they name.
type refLister interface {
	ListRefs(prefix string) ([]odb.Ref, error)
}

// A tipReader reads newest events.
type tipReader interface {
	Info(ctx context.Context, id conversation.ID) (conversation.Info, error)
	List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error)
}

// A sighting is how a conversation was last seen.
type sighting struct {
	head    odb.OID
	lock    lockState
	info    conversation.Info
	listing listing
}

// A lockState is whether a conversation is held, and since when that is so.
type lockState struct {
	touched time.Time
	held    bool
	pid     int
}

// manyChanged is how many changed conversations are read one by one; more are
// read together.
const manyChanged = 16

func newWatch(r *repo, o listOptions) (*watch, func() error, error) {
	refs, err := odb.Open(r.CommonDir, odb.Options{Durability: odb.Off, Git: r.git})
	if err != nil {
		return nil, nil, err
	}
	return &watch{repo: r, opts: o, refs: refs, tips: r.store, known: map[string]sighting{}}, refs.Close, nil
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
			w.known[info.Ref] = sighting{head: head, info: info, listing: w.repo.list(ctx, info), lock: w.lock(info, lockState{})}
			changed = true
		}
	}
	for ref, s := range w.known {
		if lock := w.lock(s.info, s.lock); lock != s.lock {
			s.lock, s.listing = lock, w.repo.list(ctx, s.info)
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

// heads are what the refs of the scope name, "" for those that cannot be read.
func (w *watch) heads() (map[string]odb.OID, error) {
	refs, err := w.refs.ListRefs(w.prefix())
	broken, err := unreadableRefs(err)
	heads := map[string]odb.OID{}
	for _, r := range append(refs, broken...) {
		if w.watches(r.Name) {
			heads[r.Name] = r.OID
		}
	}
	return heads, err
}

// unreadableRefs takes the refs that cannot be read out of an error of ListRefs.
func unreadableRefs(err error) (broken []odb.Ref, rest error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var ref *odb.UnreadableRef
		if errors.As(err, &ref) {
			broken = append(broken, odb.Ref{Name: ref.Ref})
		} else {
			rest = errors.Join(rest, err)
		}
	}
	return broken, rest
}

func (w *watch) prefix() string { return "refs/jp/" + string(w.opts.scope()) + "/" }

// watches reports whether a ref is that of a conversation that is followed.
func (w *watch) watches(ref string) bool {
	remote, name := "", strings.TrimPrefix(ref, w.prefix())
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		remote, name = name[:slash], name[slash+1:]
	}
	_, err := conversation.ParseID(name)
	return err == nil && (remote == w.opts.remote || remote != "" && w.opts.remote == anyRemote)
}

// changed are the conversations that were not seen with these heads.
func (w *watch) changed(heads map[string]odb.OID) (ids []conversation.ID) {
	for ref, head := range heads {
		if seen, ok := w.known[ref]; !ok || seen.head != head {
			ids = append(ids, conversation.ID(ref[strings.LastIndexByte(ref, '/')+1:]))
		}
	}
	return ids
}

// read reads what is known of conversations, and of others too where that is
// less work.
func (w *watch) read(ctx context.Context, ids []conversation.ID) (infos []conversation.Info, err error) {
	if len(ids) > manyChanged || len(ids) > 0 && w.opts.remote != "" {
		return w.tips.List(ctx, w.opts.scope())
	}
	for _, id := range ids {
		info, err := w.tips.Info(ctx, id)
		switch {
		case errors.Is(err, conversation.ErrNotFound):
			continue // deleted just now
		case info.Ref == "": // its ref cannot be read
			info = conversation.Info{ID: id, Ref: w.prefix() + string(id), Err: err}
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
	return lockState{touched: file.ModTime(), held: held, pid: holder.PID}
}
