package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/ownfolder"
	"jp/internal/wholefile"
	"jp/reconcile"
	"jp/turnloop"
	"jp/worktree"
)

// An untrackedRecord is what the file of a turn among the drafts says: which files git
// did not track when the turn began, or when the model was last told of them.
type untrackedRecord struct {
	Worktree string `json:"worktree"` // its id; a record of another one says nothing
	worktree.Listing
}

// untrackedDelay is how long a turn lasts before the files are listed. A shorter one that
// does not come to its end is listed at its end.
const untrackedDelay = 300 * time.Millisecond

// untrackedName is the file among the drafts with the record of a turn.
func untrackedName(id conversation.ID) string { return string(id) + ".untracked" }

// An untrackedKeeper keeps the record of a turn up to date: snapshots do not have the
// user's untracked files, so that only a record tells what became of them. It is an
// observer around another.
type untrackedKeeper struct {
	turnloop.Observer
	ctx   context.Context
	own   ownfolder.Place
	name  string
	files *files
	found *worktree.Listing // by a resume, and told to the model; nil: by none

	mu    sync.Mutex
	timer *time.Timer // nil: nothing is to be listed
}

// Recorded lists the files behind the start of a turn, takes what a resume has found for
// the record as soon as the model has answered to it, and forgets the record at the end.
func (k *untrackedKeeper) Recorded(events []*conversation.Event) {
	k.Observer.Recorded(events)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.TurnStart:
			k.timer = time.AfterFunc(untrackedDelay, k.list)
		case *conversation.ToolCallRequest:
			k.answered()
		case *conversation.ChatResponse:
			if b.Finish != "" {
				k.answered()
			}
		case *conversation.TurnDone, *conversation.TurnStopped, *conversation.TurnDiscarded:
			k.disarm()
			_ = k.own.Remove(draftsFolder, k.name)
		}
	}
}

func (k *untrackedKeeper) answered() {
	if k.found != nil {
		k.write(*k.found)
		k.found = nil
	}
}

func (k *untrackedKeeper) disarm() (armed bool) {
	if k.timer != nil {
		armed = k.timer.Stop()
		k.timer = nil
	}
	return armed
}

// list makes the record. Without one, a resume tells of fewer files.
func (k *untrackedKeeper) list() {
	listing, err := k.files.tree.ListUntracked(k.ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil && k.timer != nil {
		k.write(listing)
	}
	k.timer = nil
}

func (k *untrackedKeeper) write(listing worktree.Listing) {
	r := untrackedRecord{k.files.id, worktree.Listing{At: listing.At, Paths: quoted(listing.Paths)}}
	if text, err := json.Marshal(r); err == nil {
		_ = k.own.Replace(draftsFolder, k.name, text, wholefile.Options{Volatile: true})
	}
}

// close lists the files of a turn that ends before its end.
func (k *untrackedKeeper) close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	armed := k.timer != nil && k.timer.Stop()
	k.mu.Unlock()
	if armed {
		k.list()
	}
}

// untracked finds what became of the files that git does not track, nor ignores, since
// the turn's record was made. A tool's own files are in the snapshots and are left out.
func (q *query) untracked(ctx context.Context, tree string) ([]reconcile.Untracked, error) {
	text, err := q.repo.own().Read(draftsFolder, untrackedName(q.id))
	var was untrackedRecord
	if err != nil || json.Unmarshal(text, &was) != nil || was.Worktree != q.files.id || q.files.off {
		return nil, nil // nobody knows what there was
	}
	was.Paths = unquoted(was.Paths)
	slices.Sort(was.Paths)
	now, err := q.files.tree.ListUntracked(ctx)
	if err != nil {
		return nil, err
	}
	q.listing = &now
	changes := q.files.tree.Since(was.Listing, now)
	if len(changes) == 0 {
		return nil, nil
	}
	snapshot, err := q.pathsIn(ctx, tree)
	if err != nil {
		return nil, err
	}
	var found []reconcile.Untracked
	for _, c := range changes {
		if !snapshot[c.Path] {
			found = append(found, reconcile.Untracked{Path: conversation.QuotePath(c.Path), What: c.What})
		}
	}
	return found, nil
}

// pathsIn are the paths of a snapshot's files.
func (q *query) pathsIn(ctx context.Context, tree string) (map[string]bool, error) {
	paths := map[string]bool{}
	if tree == "" {
		return paths, nil
	}
	out, err := q.repo.git.RunWith(ctx, gitcmd.Command{Args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", tree}})
	if err != nil {
		return nil, err
	}
	for path := range bytes.SplitSeq(out, []byte{0}) {
		paths[string(path)] = true
	}
	return paths, nil
}
