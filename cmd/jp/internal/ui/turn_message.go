package ui

import (
	"io"
	"sync"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
)

// A message is an answer of the model that is being printed.
type message struct {
	mu    sync.Mutex  // held while it is written
	prose prose       // nil between messages
	shown map[int]int // bytes of text, by seq
	call  int         // the model call that speaks
}

// listen follows a model call. The text of an interrupted call stays as it is, and the next call,
// which begins again, is shown below it.
func (t *Turn) listen(call int) {
	if call != t.message.call {
		t.closeMessage()
		clear(t.message.shown)
	}
	t.message.call = call
}

// write prints a piece of text, unless it is shown already.
func (t *Turn) write(part conversation.Part, seq, at int, text string) {
	m := &t.message
	if m.shown[seq] != at {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.prose == nil {
		t.live.cover(true)
		m.prose = t.prose(part)
	}
	t.resize()
	m.shown[seq] += len(text)
	_, _ = io.WriteString(m.prose, text) // the reader may have left
}

// prose prints words of the model. Data is no Markdown.
func (t *Turn) prose(part conversation.Part) prose {
	e := t.env
	if part == conversation.PartData || !e.Rendered() {
		return terminal.NewPlain(t.out)
	}
	if v := t.view; v != nil {
		m := terminal.NewMarkdown(t.out, v.Width, v.Palette)
		if t.onScreen() {
			m.Indent(textIndent)
		}
		m.Within(v.time)
		return m
	}
	m := terminal.NewMarkdown(t.out, e.Columns(e.Stdout), e.Palette(e.Stdout))
	if t.onScreen() {
		m.Indent(textIndent)
	}
	switch {
	case e.Console != nil:
		m.Live(terminal.Rows(e.Stdout) - 1)
		m.In(e.Console)
	case Redraws(e.Style, e.Get("TERM")):
		m.Live(terminal.Rows(e.Stdout) - 1)
		if e.Get("TERM") != "linux" && e.Get("XTERM_VERSION") == "" { // these two cut lines off
			m.Reflow()
		}
	}
	return m
}

// resize gives the message the size of the terminal.
func (t *Turn) resize() {
	t.message.prose.Resize(t.env.Columns(t.env.Stdout), terminal.Rows(t.env.Stdout))
}

// leave makes room below the printed text, so that a person can go on reading it.
func (t *Turn) leave() {
	t.message.mu.Lock()
	defer t.message.mu.Unlock()
	if t.message.prose != nil {
		t.resize()
		_ = t.message.prose.Leave() // the message itself reports a terminal that is gone
	}
	t.live.hide()
}

// aside lets another writer use the terminal. The block that the model is writing goes away
// before that, and comes back with its next word.
func (t *Turn) aside(text func()) {
	t.message.mu.Lock()
	defer t.message.mu.Unlock()
	if t.message.prose != nil {
		t.resize()
		_ = t.message.prose.Hide() // the message itself reports a terminal that is gone
	}
	t.live.write(text)
}

func (t *Turn) closeMessage() {
	t.message.mu.Lock()
	defer t.message.mu.Unlock()
	t.live.hide()
	if t.message.prose != nil {
		t.resize()
		_ = t.message.prose.Close()
		t.message.prose = nil
		t.live.cover(false)
	}
}

// pause lets a question have the terminal, and resume gives it back. A nil turn has none.
func (t *Turn) pause() {
	if t != nil {
		t.closeMessage()
		t.live.cover(true)
	}
}

func (t *Turn) resume() {
	if t != nil {
		t.live.cover(false)
	}
}
