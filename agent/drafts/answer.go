// Package drafts keeps texts that are not events yet.
package drafts

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

// An AnswerKeeper keeps the text that streams in a file, a second late at most,
// so that it can be quoted even after a kill. It is an observer around another.
type AnswerKeeper struct {
	turnloop.Observer
	own  safefile.StateDir
	name string // of the file among the drafts

	mu    sync.Mutex
	text  streamed
	dirty bool
	timer *time.Timer
}

// Streamed notes text of the answer.
func (d *AnswerKeeper) Streamed(delta turnloop.Delta) {
	d.Observer.Streamed(delta)
	if delta.Part != conversation.PartMessage {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if delta.Seq != d.text.Seq || delta.Call != d.text.Call {
		d.text = streamed{Seq: delta.Seq, Call: delta.Call}
	}
	d.text.Text += delta.Text
	if !d.dirty {
		d.dirty = true
		d.timer = time.AfterFunc(draftDelay, d.Flush)
	}
}

// Recorded forgets text that has become an event.
func (d *AnswerKeeper) Recorded(events []*conversation.Event) {
	d.Observer.Recorded(events)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text.Text != "" && events[len(events)-1].Seq >= d.text.Seq {
		d.text, d.dirty = streamed{}, false
		_ = d.own.Remove(repo.DraftsFolder, d.name) // one that is left behind names an event that there is
	}
}

// Flush writes the text so far. A file that cannot be written costs a quotation
// after a kill, and nothing else.
func (d *AnswerKeeper) Flush() {
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

// Close ends the keeper; what is not an event by now stays in the file.
func (d *AnswerKeeper) Close() {
	if d == nil {
		return
	}
	d.Flush()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
}

// answerFile is the file among the drafts that holds text which is streaming, in case jp ends
// before it becomes an event.
func answerFile(id conversation.ID) string { return string(id) + ".answer" }

// KeepAnswer is an AnswerKeeper of a conversation.
func KeepAnswer(o turnloop.Observer, own safefile.StateDir, id conversation.ID) *AnswerKeeper {
	return &AnswerKeeper{Observer: o, own: own, name: answerFile(id)}
}

// A streamed text is what that file says.
type streamed struct {
	Seq  int    `json:"seq"` // of the event that the text would have become
	Call int    `json:"call"`
	Text string `json:"text"`
}

// Answer reads the text that was streaming behind the newest event, "" if
// there is none.
func Answer(own safefile.StateDir, id conversation.ID, events []*conversation.Event) string {
	text, err := own.Read(repo.DraftsFolder, answerFile(id))
	var d streamed
	if err != nil || json.Unmarshal(text, &d) != nil || len(events) == 0 {
		return ""
	}
	turn := events[len(events)-1].Turn
	for i := len(events) - 1; i >= 0 && events[i].Turn == turn; i-- {
		switch events[i].Type() {
		case conversation.TypeChatResponse, conversation.TypeToolCallRequest, conversation.TypeToolCallResponse, conversation.TypeChatRequest:
			if events[i].Seq >= d.Seq {
				return "" // it has become an event
			}
		}
	}
	return d.Text
}

// RemoveAnswer forgets streamed text; that there is none is as well.
func RemoveAnswer(own safefile.StateDir, id conversation.ID) error {
	return own.Remove(repo.DraftsFolder, answerFile(id))
}
