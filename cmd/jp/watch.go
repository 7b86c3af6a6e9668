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

// look is what the conversations are now.
func (w *watch) look(ctx context.Context) ([]listing, error) {
	heads, err := w.heads()
	if err != nil { // a ref that cannot be read: the store lists it as such
		return w.lookAtAll(ctx)
	}
	infos, err := w.read(ctx, w.changed(heads))
	if err != nil {
		return nil, err
	}
	for ref := range w.known {
		if heads[ref] == "" {
			delete(w.known, ref)
		}
	}
	for _, info := range infos {
		if head, ok := heads[info.Ref]; ok {
			w.known[info.Ref] = sighting{head: head, info: info, listing: w.repo.list(ctx, info), lock: w.lock(info, lockState{})}
		}
	}
	var list []listing
	for ref, s := range w.known {
		if lock := w.lock(s.info, s.lock); lock != s.lock {
			s.lock, s.listing = lock, w.repo.list(ctx, s.info)
			w.known[ref] = s
		}
		list = append(list, s.listing)
	}
	return list, ctx.Err()
}

// lookAtAll reads every conversation.
func (w *watch) lookAtAll(ctx context.Context) (list []listing, err error) {
	infos, err := w.opts.infos(ctx, w.repo)
	for _, i := range infos {
		list = append(list, w.repo.list(ctx, i))
	}
	return list, err
}

// heads are what the refs of the scope name.
func (w *watch) heads() (map[string]odb.OID, error) {
	prefix := "refs/jp/" + string(w.opts.scope()) + "/"
	refs, err := w.refs.ListRefs(prefix)
	heads := map[string]odb.OID{}
	for _, r := range refs {
		name := strings.TrimPrefix(r.Name, prefix)
		if slash := strings.LastIndexByte(name, '/'); slash >= 0 && w.opts.remote != "" {
			if w.opts.remote != anyRemote && w.opts.remote != name[:slash] {
				continue
			}
			name = name[slash+1:]
		}
		if _, err := conversation.ParseID(name); err == nil {
			heads[r.Name] = r.OID
		}
	}
	return heads, err
}

// changed are the conversations that were not seen with these heads.
func (w *watch) changed(heads map[string]odb.OID) (ids []conversation.ID) {
	for ref, head := range heads {
		if w.known[ref].head != head {
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
		if errors.Is(err, conversation.ErrNotFound) {
			continue // deleted just now
		}
		infos = append(infos, info) // one that cannot be read says why
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
