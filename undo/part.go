package undo

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"jp/agent/repo"
	"jp/conversation"
	"jp/gitstore"
	"jp/internal/safefile"
	"jp/worktree"
)

// nearby is how many events are read back with all their text. Of more only the beginnings of
// texts are held in memory.
const nearby = 4096

// load reads the conversation. Undo of an event, nil for the last turn, needs only the end if earlier events
// are known to be irrelevant.
func (b *Undo) load(ctx context.Context, event *conversation.Event) error {
	newest := b.View.Events[len(b.View.Events)-1]
	near := event == nil || newest.Seq-event.Seq < nearby
	known := b.recordedUntil()
	if b.Opts.Action == "undo" && known.commit != "" && near && newest.Seq-known.seq < nearby {
		r := undoReach{event: event, known: known}
		v, err := b.View.Repo.Find().ViewBack(ctx, b.View.Repo.Env, string(b.View.ID), r.enough)
		if err != nil || v.Broken != nil || r.complete || v.Events[0].Seq == 0 {
			b.View = v
			return err
		}
	}
	v, err := b.View.Repo.Find().Outline(ctx, b.View.Repo.Env, string(b.View.ID))
	b.View = v
	return err
}

// An undoReach reaches back to before the turn of an event (nil for the last turn), to the conversation's
// place at the start of that turn, and to the event up to which everything is recorded.
type undoReach struct {
	event          *conversation.Event
	known          recordedUntil
	looked         int // how many events were looked at
	placed, proven bool
	complete       bool // it goes back to all three
}

// enough is a [repo.Reach]. It also ends at another event in the place of the known one.
func (r *undoReach) enough(back []*conversation.Event) bool {
	turn := back[0].Turn
	if r.event != nil {
		turn = r.event.Turn
	}
	for _, e := range back[r.looked:] {
		began := e.Turn < turn || e.Turn == turn && e.Type() == conversation.TypeTurnStart
		r.placed = r.placed || began && e.Git != nil && e.Type().Places()
		r.proven = r.proven || e.Seq == r.known.seq && e.Commit == r.known.commit
	}
	r.looked = len(back)
	oldest := back[len(back)-1]
	r.complete = r.placed && r.proven && oldest.Turn < turn
	return r.complete || !r.proven && oldest.Seq <= r.known.seq
}

// A recordedUntil names an event up to which no tool of the conversation took away a file outside of trees.
// An undo of a later event can find all such files without earlier events.
type recordedUntil struct {
	seq    int
	commit string // "" if unknown
}

const recordedMagic = "jp-undo 1 "

// recordedUntil reads the file of the conversation. It can be deleted, and counts only with the
// code of the user's key.
func (b *Undo) recordedUntil() recordedUntil {
	data, err := b.View.Repo.StateDir().Read(repo.UndoFolder, string(b.View.ID))
	text, ours := strings.CutPrefix(string(data), recordedMagic)
	words := strings.Fields(text)
	if err != nil || !ours || len(words) != 3 {
		return recordedUntil{}
	}
	seq, err := strconv.Atoi(words[0])
	u := recordedUntil{seq, words[1]}
	if err != nil || !hmac.Equal([]byte(words[2]), []byte(b.code(u))) {
		return recordedUntil{}
	}
	return u
}

// keepRecordedUntil replaces that file by one that names the newest event, if no event that was read reports
// that a tool took away a file outside of trees.
func (b *Undo) keepRecordedUntil() {
	gone := func(e *conversation.Event) bool {
		response, is := e.Body.(*conversation.ToolCallResponse)
		return is && slices.ContainsFunc(response.LeftOut, func(l conversation.SkippedPath) bool { return l.Why == worktree.WhyGone })
	}
	newest := b.View.Events[len(b.View.Events)-1]
	u := recordedUntil{newest.Seq, newest.Commit}
	if code := b.code(u); code != "" && u != b.recordedUntil() && !slices.ContainsFunc(b.View.Events, gone) {
		text := fmt.Sprintf("%s%d %s %s\n", recordedMagic, u.seq, u.commit, code)
		_ = b.View.Repo.StateDir().Replace(repo.UndoFolder, string(b.View.ID), []byte(text), safefile.Options{Volatile: true}) // it only saves time
	}
}

// code is the code of the user's key, "" without a key.
func (b *Undo) code(u recordedUntil) string {
	key, err := gitstore.LoadKey(b.View.Repo.KeyFile())
	if err != nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s%s %d %s", recordedMagic, b.View.ID, u.seq, u.commit)
	return hex.EncodeToString(mac.Sum(nil))
}
