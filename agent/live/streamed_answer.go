package live

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/turnloop"
)

// draftDelay is how old text gets before it is kept.
const draftDelay = time.Second

// An AnswerKeeper keeps the text that streams in a file, so that it can be quoted even after a
// kill. It is an observer around another.
type AnswerKeeper struct {
	turnloop.Observer
	own  safefile.StateDir
	name string // of the file among the drafts
	now  bool   // text is in the file before it is shown; else it is there a second late at most

	mu    sync.Mutex
	texts []StreamedText
	dirty bool
	timer *time.Timer
	file  *os.File // open for appending, or nil
}

// A StreamedText is a part of an answer, as far as it has streamed. The file has such texts, one JSON
// line each. A line with another At than 0 goes on with the text before it.
type StreamedText struct {
	Seq  int               `json:"seq"` // of the event that the text would have become
	Call int               `json:"call"`
	Part conversation.Part `json:"part,omitempty"` // "" for a message
	At   int               `json:"at,omitempty"`   // bytes of the text before this line
	Text string            `json:"text"`
	Code string            `json:"code"` // of all that by the user's key, and the name of the file
}

// Streamed notes text of the answer.
func (d *AnswerKeeper) Streamed(delta turnloop.Delta) {
	if d.now {
		d.keep(delta)
		d.Observer.Streamed(delta)
		return
	}
	d.Observer.Streamed(delta)
	if delta.Part == conversation.PartMessage || delta.Part == conversation.PartReasoning {
		d.note(delta)
	}
}

// note adds text, and writes the file later.
func (d *AnswerKeeper) note(delta turnloop.Delta) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.texts = joined(d.texts, textOf(delta))
	if !d.dirty {
		d.dirty = true
		d.timer = time.AfterFunc(draftDelay, d.Flush)
	}
}

// keep adds text to the file without flushing it to the disk: a kill of jp leaves it there.
func (d *AnswerKeeper) keep(delta turnloop.Delta) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := textOf(delta)
	d.texts = joined(d.texts, text)
	if d.file == nil {
		folder, err := d.own.Open(repo.DraftsFolder)
		if err != nil {
			return
		}
		defer folder.Close()
		if d.file, err = folder.OpenFile(d.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|os.O_TRUNC, 0o600); err != nil {
			d.file = nil
			return
		}
	}
	_, _ = d.file.Write(lineOf(d.own, d.name, text)) // a failure costs a quotation after a kill
}

func textOf(d turnloop.Delta) StreamedText {
	return StreamedText{Seq: d.Seq, Call: d.Call, Part: d.Part, At: d.At, Text: d.Text}
}

// joined adds a piece to the streamed texts. A text that begins again replaces the earlier one.
func joined(texts []StreamedText, piece StreamedText) []StreamedText {
	if piece.Part == "" {
		piece.Part = conversation.PartMessage
	}
	if n := len(texts); piece.At > 0 && n > 0 && texts[n-1].Seq == piece.Seq && len(texts[n-1].Text) == piece.At {
		texts[n-1].Text += piece.Text
		return texts
	}
	texts = slices.DeleteFunc(texts, func(t StreamedText) bool { return t.Seq >= piece.Seq })
	if piece.At > 0 {
		return texts // its beginning is missing
	}
	return append(texts, piece)
}

func lineOf(own safefile.StateDir, name string, t StreamedText) []byte {
	t.Code = codeOf(own, name, t)
	line, _ := json.Marshal(t) // numbers and texts can always be written
	return append(line, '\n')
}

// codeOf is the code of a text in a file.
func codeOf(own safefile.StateDir, name string, t StreamedText) string {
	t.Code = ""
	plain, _ := json.Marshal(t)
	return own.Code(repo.DraftsFolder, name, plain)
}

// Recorded forgets text that has become an event.
func (d *AnswerKeeper) Recorded(events []*conversation.Event) {
	d.Observer.Recorded(events)
	d.mu.Lock()
	defer d.mu.Unlock()
	newest := events[len(events)-1].Seq
	if len(d.texts) == 0 || newest < d.texts[0].Seq {
		return
	}
	d.texts = slices.DeleteFunc(d.texts, func(t StreamedText) bool { return t.Seq <= newest })
	if len(d.texts) > 0 {
		d.dirty = true
		if d.now {
			d.closeFile()
			d.write()
			d.reopen()
		}
		return
	}
	d.dirty = false
	d.closeFile()
	_ = d.own.Remove(repo.DraftsFolder, d.name) // one that is left behind names an event that there is
}

func (d *AnswerKeeper) reopen() {
	folder, err := d.own.Open(repo.DraftsFolder)
	if err != nil {
		return
	}
	defer folder.Close()
	if d.file, err = folder.OpenFile(d.name, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		d.file = nil
	}
}

func (d *AnswerKeeper) closeFile() {
	if d.file != nil {
		d.file.Close()
		d.file = nil
	}
}

// Flush writes the text so far. A failure only costs a quotation after a kill.
func (d *AnswerKeeper) Flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirty && !d.now {
		d.write()
	}
}

// write writes all of the text. The lock is held.
func (d *AnswerKeeper) write() {
	d.dirty = false
	var lines []byte
	for _, t := range d.texts {
		lines = append(lines, lineOf(d.own, d.name, t)...)
	}
	_ = d.own.Replace(repo.DraftsFolder, d.name, lines, safefile.Options{Volatile: true})
}

// Close ends the keeper. Text before it becomes an event stays in the file.
func (d *AnswerKeeper) Close() {
	if d == nil {
		return
	}
	d.Flush()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closeFile()
	if d.timer != nil {
		d.timer.Stop()
	}
}

// answerFile is the file among the drafts that holds text which is streaming, in case jp ends
// before it becomes an event.
func answerFile(id conversation.ID) string { return string(id) + ".answer" }

// KeepAnswer is an AnswerKeeper of a conversation. With now it keeps all streamed text before it is shown,
// else the model's messages and thoughts a second late at most.
func KeepAnswer(o turnloop.Observer, own safefile.StateDir, id conversation.ID, now bool) *AnswerKeeper {
	return &AnswerKeeper{Observer: o, own: own, name: answerFile(id), now: now}
}

// StreamedTexts reads the texts that were streaming behind the newest event, in their order.
func StreamedTexts(own safefile.StateDir, id conversation.ID, events []*conversation.Event) (texts []StreamedText) {
	file, err := own.Read(repo.DraftsFolder, answerFile(id))
	if errors.Is(err, safefile.ErrNotRegular) {
		_ = own.Refuse(repo.DraftsFolder, answerFile(id))
	}
	if err != nil || len(events) == 0 {
		return nil
	}
	for line := range bytes.Lines(file) {
		var t StreamedText
		if json.Unmarshal(line, &t) != nil {
			continue // a kill cut the line off
		}
		if t.Code == "" || !hmac.Equal([]byte(t.Code), []byte(codeOf(own, answerFile(id), t))) {
			_ = own.Refuse(repo.DraftsFolder, answerFile(id))
			return nil
		}
		t.Code = ""
		texts = joined(texts, t)
	}
	turn := events[len(events)-1].Turn
	for i := len(events) - 1; i >= 0 && events[i].Turn == turn; i-- {
		switch events[i].Type() {
		case conversation.TypeChatResponse, conversation.TypeToolCallRequest, conversation.TypeToolCallResponse, conversation.TypeChatRequest:
			return slices.DeleteFunc(texts, func(t StreamedText) bool { return t.Seq <= events[i].Seq }) // it has become an event
		}
	}
	return texts
}

// StreamedAnswer reads the message that was streaming behind the newest event, or "".
func StreamedAnswer(own safefile.StateDir, id conversation.ID, events []*conversation.Event) (text string) {
	for _, t := range StreamedTexts(own, id, events) {
		if t.Part == conversation.PartMessage {
			text = t.Text
		}
	}
	return text
}

// RemoveAnswer forgets streamed text, if there is any.
func RemoveAnswer(own safefile.StateDir, id conversation.ID) error {
	return own.Remove(repo.DraftsFolder, answerFile(id))
}
