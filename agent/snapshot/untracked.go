package snapshot

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/turnloop"
	"jp/worktree"
)

// An UntrackedRecord is the content of a turn's file among the drafts: the untracked files at the start of
// the turn, or when the model was last told of them.
type UntrackedRecord struct {
	Worktree string `json:"worktree"` // its id; records of other ones are ignored
	worktree.Listing
}

// untrackedDelay is how long a turn lasts before the files are listed. A shorter turn that stops before its
// end is listed then.
const untrackedDelay = 300 * time.Millisecond

// UntrackedName is the file among the drafts with the record of a turn.
func UntrackedName(id conversation.ID) string { return string(id) + ".untracked" }

// An UntrackedKeeper keeps the record of a turn up to date: snapshots lack the user's untracked files, so
// that their changes are known by a record only. It is an observer around another.
type UntrackedKeeper struct {
	turnloop.Observer
	Ctx   context.Context
	Own   safefile.StateDir
	Name  string
	Files *Files
	Found *worktree.Listing // by a resume, and told to the model; or nil

	mu      sync.Mutex
	timer   *time.Timer        // nil without a list to make
	end     context.CancelFunc // of the list that the timer makes
	listing sync.WaitGroup     // the timer's lists
}

// Recorded lists the files behind the start of a turn, makes the listing of a resume the record as soon as
// the model has answered to it, and drops the record at the end.
func (k *UntrackedKeeper) Recorded(events []*conversation.Event) {
	k.Observer.Recorded(events)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.TurnStart:
			k.arm()
		case *conversation.ToolCallRequest:
			k.answered()
		case *conversation.ChatResponse:
			if b.Finish != "" {
				k.answered()
			}
		case *conversation.TurnDone, *conversation.TurnStopped, *conversation.TurnDiscarded:
			k.disarm()
			_ = k.Own.Remove(repo.DraftsFolder, k.Name)
		}
	}
}

func (k *UntrackedKeeper) answered() {
	if k.Found != nil {
		k.write(*k.Found)
		k.Found = nil
	}
}

func (k *UntrackedKeeper) arm() {
	ctx, end := context.WithCancel(k.Ctx)
	k.end = end
	k.listing.Add(1)
	k.timer = time.AfterFunc(untrackedDelay, func() {
		defer k.listing.Done()
		k.list(ctx)
	})
}

// disarm ends a list that is being made.
func (k *UntrackedKeeper) disarm() {
	if k.timer == nil {
		return
	}
	if k.timer.Stop() {
		k.listing.Done()
	}
	k.end()
	k.timer = nil
}

// list makes the record. Without one, a resume tells of fewer files.
func (k *UntrackedKeeper) list(ctx context.Context) {
	listing, err := k.Files.Tree.ListUntracked(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if ctx.Err() != nil { // the turn has ended
		return
	}
	if err == nil {
		k.write(listing)
	}
	k.timer = nil
}

func (k *UntrackedKeeper) write(listing worktree.Listing) {
	r := UntrackedRecord{k.Files.ID, worktree.Listing{At: listing.At, Paths: quoted(listing.Paths)}}
	if text, err := json.Marshal(r); err == nil {
		_ = k.Own.ReplaceSealed(repo.DraftsFolder, k.Name, text, safefile.Options{Volatile: true})
	}
}

// Close lists the files of a turn that stops before its end. When it returns, the keeper has finished with
// the working tree.
func (k *UntrackedKeeper) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	armed := k.timer != nil && k.timer.Stop()
	k.mu.Unlock()
	if armed {
		k.list(k.Ctx)
		k.listing.Done()
	}
	k.listing.Wait()
}
