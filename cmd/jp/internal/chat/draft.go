package chat

import (
	"strings"
	"sync"
	"time"

	"jp/agent/live"
	"jp/conversation"
	"jp/internal/safefile"
)

// draftDelay is how old typed text gets before it is kept.
const draftDelay = 500 * time.Millisecond

// A draft keeps the person's text with its pictures, so that they have it again after a kill.
type draft struct {
	own      safefile.StateDir
	pictures *pictures

	mu    sync.Mutex
	id    conversation.ID
	slot  live.Slot       // of a conversation without an id
	text  string          // in the line
	asked string          // entered, and not recorded yet
	left  conversation.ID // the conversation whose file has the entered text until it is recorded elsewhere; "": this one
	kept  string          // in the file
	chips string          // of the pictures in their file
	timer *time.Timer
}

// open begins with the draft that was kept of a conversation.
func (d *draft) open(own safefile.StateDir, id conversation.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slot.Release()
	d.own, d.id, d.slot = own, id, live.Slot{}
	if id == "" {
		d.slot, d.kept = live.TakeSlot(own)
	} else {
		d.kept, _ = live.RequestDraft(own, id) // one that cannot be read is not offered
	}
	if d.text = d.kept; d.text == d.asked {
		d.text = "" // it came along, and is no longer in the line
	}
	if chipText().MatchString(d.text) {
		d.pictures.restore(live.DraftPictures(own, d.file()))
	}
	d.chips, _ = d.pictures.kept(d.text)
}

// file is the file of the text, "" if none is kept. The lock is held.
func (d *draft) file() string {
	if d.id == "" {
		return d.slot.File()
	}
	return live.RequestFile(d.id)
}

// current is the text that the line has, or had when it was kept.
func (d *draft) current() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text
}

// change takes the text of the line.
func (d *draft) change(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text = text; d.timer == nil {
		d.timer = time.AfterFunc(draftDelay, d.flush)
	}
}

// ask keeps a text that was entered until it is recorded.
func (d *draft) ask(text string) {
	d.mu.Lock()
	d.asked = text
	if d.text == text { // it was in the line
		d.text = ""
	}
	d.mu.Unlock()
	d.flush()
}

// entered forgets a text that left the line, and is kept elsewhere or not at all.
func (d *draft) entered(text string) {
	d.mu.Lock()
	if d.text == text {
		d.text = ""
	}
	d.mu.Unlock()
	d.flush()
}

// leave lets a text that was entered stay with a conversation until it is recorded in a new one.
func (d *draft) leave(with conversation.ID) {
	d.mu.Lock()
	d.left = with
	d.mu.Unlock()
}

// asks reports whether a recorded text is the one that was entered. A secret in it has a placeholder there.
func (d *draft) asks(recorded string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked != "" && (d.asked == recorded || strings.Contains(recorded, "[secret:"))
}

// recorded forgets the entered text.
func (d *draft) recorded() {
	d.mu.Lock()
	was := d.asked
	d.asked = ""
	d.mu.Unlock()
	if was != "" {
		d.flush()
	}
}

// unasked is the text that was entered and not recorded. It is the line's again.
func (d *draft) unasked() (text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, d.asked = d.asked, ""
	return text
}

// flush writes the text of the line. A file that cannot be written costs a draft after a kill.
func (d *draft) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	text := joined(d.asked, d.text)
	elsewhere := d.left != "" && d.left != d.id
	if elsewhere && d.asked != "" {
		text = d.text
	}
	d.keepPictures(text) // first: a text with a chip has its picture
	if text != d.kept && d.keep(text) == nil {
		d.kept = text
	}
	if elsewhere && d.asked == "" {
		_ = live.KeepRequest(d.own, d.left, "") // one that stays is offered twice
		_ = live.KeepDraftPictures(d.own, live.RequestFile(d.left), nil)
		d.left = ""
	}
}

// keepPictures keeps those of a text if they have changed. The lock is held.
func (d *draft) keepPictures(text string) {
	if chips, kept := d.pictures.kept(text); chips != d.chips && live.KeepDraftPictures(d.own, d.file(), kept) == nil {
		d.chips = chips
	}
}

// keep writes a text, "" for none. The lock is held.
func (d *draft) keep(text string) error {
	if d.id == "" {
		return d.slot.Keep(text)
	}
	return live.KeepRequest(d.own, d.id, text)
}

// move lets the line belong to another conversation, with its text.
func (d *draft) move(id conversation.ID) {
	d.mu.Lock()
	if d.id != id {
		_ = d.keep("") // one that stays is offered twice
		d.keepPictures("")
		d.slot.Release()
		d.id, d.kept, d.slot = id, "", live.Slot{}
	}
	d.mu.Unlock()
	d.flush()
}

func joined(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n\n" + second
}
