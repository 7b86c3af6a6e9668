package live

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/process/attach"
)

// queueFile is the file among the drafts with the messages that wait for a boundary of a turn, one
// JSON line each.
func queueFile(id conversation.ID) string { return string(id) + ".queue" }

// A Queued message waits for the next boundary of the turn that runs.
type Queued struct {
	Text  string `json:"text"`
	After int    `json:"after"` // seq of the newest event when it was queued; an equal request behind it is this message
}

// A Queue has the messages that the user enters while a turn runs. They go to the model at the next
// boundary, after the tools that run. It belongs to one conversation, and may be used by any goroutine.
type Queue struct {
	own safefile.StateDir

	mu      sync.Mutex
	id      conversation.ID
	kept    []Queued // of an earlier process, unsent unless Take makes them wait
	over    bool     // Add fails
	waiting []Queued
	sent    int // of them, that are being recorded
	newest  int // seq of the newest event
}

// NewQueue is the queue of a conversation, "" for a future one, with the messages that an earlier process
// left.
func NewQueue(own safefile.StateDir, id conversation.ID) *Queue {
	q := &Queue{own: own, id: id, newest: -1}
	if id == "" {
		return q
	}
	text, err := own.ReadSealed(repo.DraftsFolder, queueFile(id))
	if err != nil {
		return q
	}
	for line := range bytes.Lines(text) {
		var m Queued
		if json.Unmarshal(line, &m) == nil && m.Text != "" { // a line that a kill cut off has no message
			q.waiting = append(q.waiting, m)
		}
	}
	return q
}

// NewInbox is a queue for the messages of other processes. Those that an earlier process left stay until
// [Queue.Take].
func NewInbox(own safefile.StateDir, id conversation.ID) *Queue {
	q := NewQueue(own, id)
	q.kept, q.waiting = q.waiting, nil
	return q
}

// Kept is how many messages an earlier process left.
func (q *Queue) Kept() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.kept)
}

// Take makes those among the messages of an earlier process wait that have one of these texts, and forgets the others.
func (q *Queue) Take(texts []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept = slices.DeleteFunc(q.kept, func(m Queued) bool { return !slices.Contains(texts, m.Text) })
	q.waiting, q.kept = slices.Concat(q.kept, q.waiting), nil
	_ = q.write()
}

// Of says which conversation the messages belong to, once it is known.
func (q *Queue) Of(id conversation.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.id == "" {
		q.id = id
		_ = q.write()
	}
}

// Add queues a message. It is kept when Add returns.
func (q *Queue) Add(text string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return attach.ErrEnding
	}
	q.waiting = append(q.waiting, Queued{Text: text, After: q.newest})
	return q.write()
}

// Waiting are the messages that are queued, the oldest first.
func (q *Queue) Waiting() []Queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.waiting)
}

// Send is the messages to record now, at most so many, or all if most is negative. [Queue.Recorded] removes
// them.
func (q *Queue) Send(most int) (texts []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = len(q.waiting)
	if most >= 0 {
		q.sent = min(q.sent, most)
	}
	for _, m := range q.waiting[:q.sent] {
		texts = append(texts, m.Text)
	}
	return texts
}

// Rest is all messages, for the end of a turn. If there are none, Add fails from now on, so that every kept
// message is sent.
func (q *Queue) Rest() []string {
	texts := q.Send(-1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = len(q.waiting) == 0
	return texts
}

// Recorded removes the messages that have become events.
func (q *Queue) Recorded(events []*conversation.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.newest = events[len(events)-1].Seq
	said := 0
	for _, e := range events {
		if b, ok := e.Body.(*conversation.ChatRequest); ok && b.Interrupt {
			said++
		}
	}
	if n := min(said, q.sent); n > 0 {
		q.waiting, q.sent = q.waiting[n:], q.sent-n
		_ = q.write() // a message that stays in the file is found among the events
	}
}

// Last takes the newest message back, "" without one.
func (q *Queue) Last() (text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.waiting); n > q.sent {
		text = q.waiting[n-1].Text
		q.waiting = q.waiting[:n-1]
		_ = q.write()
	}
	return text
}

// First takes the oldest message, for a turn of its own.
func (q *Queue) First() (text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		text = q.waiting[0].Text
		q.waiting, q.sent = q.waiting[1:], 0
		_ = q.write()
	}
	return text
}

// Clear removes all messages.
func (q *Queue) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting, q.sent = nil, 0
	_ = q.write()
}

// write keeps the messages. The lock is held.
func (q *Queue) write() error {
	if q.id == "" {
		return nil // the turn's first event is about to come
	}
	all := slices.Concat(q.kept, q.waiting)
	if len(all) == 0 {
		return q.own.Remove(repo.DraftsFolder, queueFile(q.id))
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, m := range all {
		if err := encoder.Encode(m); err != nil {
			return err
		}
	}
	return q.own.ReplaceSealed(repo.DraftsFolder, queueFile(q.id), lines.Bytes(), safefile.Options{Volatile: true})
}
