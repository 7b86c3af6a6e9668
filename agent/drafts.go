package agent

import (
	"encoding/json"
	"sync"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/turnloop"
)

// draftDelay is how old text gets before it is kept.
const draftDelay = time.Second

// A draftKeeper keeps the text that streams in a file, a second late at most,
// so that it can be quoted even after a kill. It is an observer around another.
type draftKeeper struct {
	turnloop.Observer
	own  safefile.StateDir
	name string // of the file among the drafts

	mu    sync.Mutex
	text  streamedDraft
	dirty bool
	timer *time.Timer
}

// Streamed notes text of the answer.
func (d *draftKeeper) Streamed(delta turnloop.Delta) {
	d.Observer.Streamed(delta)
	if delta.Part != conversation.PartMessage {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if delta.Seq != d.text.Seq || delta.Call != d.text.Call {
		d.text = streamedDraft{Seq: delta.Seq, Call: delta.Call}
	}
	d.text.Text += delta.Text
	if !d.dirty {
		d.dirty = true
		d.timer = time.AfterFunc(draftDelay, d.flush)
	}
}

// Recorded forgets text that has become an event.
func (d *draftKeeper) Recorded(events []*conversation.Event) {
	d.Observer.Recorded(events)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text.Text != "" && events[len(events)-1].Seq >= d.text.Seq {
		d.text, d.dirty = streamedDraft{}, false
		_ = d.own.Remove(repo.DraftsFolder, d.name) // one that is left behind names an event that there is
	}
}

// flush writes the text so far. A file that cannot be written costs a quotation
// after a kill, and nothing else.
func (d *draftKeeper) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dirty {
		return
	}
	d.dirty = false
	text, err := json.Marshal(d.text)
	if err == nil {
		_ = d.own.Replace(repo.DraftsFolder, d.name, text, safefile.Options{Volatile: true})
	}
}

// close ends the keeper; what is not an event by now stays in the file.
func (d *draftKeeper) close() {
	d.flush()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
}
