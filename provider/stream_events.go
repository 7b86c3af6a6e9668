package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// mostEvent is the longest event that is read, in bytes: one may hold a whole answer.
const mostEvent = 64 << 20

// ErrLongEvent is an event above the size that jp reads.
var ErrLongEvent = fmt.Errorf("an event of more than %d MiB", mostEvent>>20)

// A streamEvent is one piece of a server's stream.
type streamEvent struct {
	name string // of the event, "error" for a line of that name, or ""
	data []byte // nil for a comment
	bare bool   // it stood outside of events
}

// eventReader reads server-sent events, and the JSON that servers send in their place:
// a whole answer, one value a line, or an error.
type eventReader struct {
	in     *bufio.Reader
	begun  bool // a line was read
	ended  bool // the last line ended with a carriage return
	err    error
	name   string
	data   []byte // of the event so far; nil: empty
	bare   []byte // lines outside of events that may yet be JSON
	queue  []streamEvent
	other  []byte // the first of all other lines
	events int    // that were read
}

// mostOther is the kept size of lines without a meaning.
const mostOther = 4 << 10

// byteOrderMark may precede the first line of a stream, and is dropped.
var byteOrderMark = []byte("\ufeff")

func newEventReader(in io.Reader) *eventReader { return &eventReader{in: bufio.NewReader(in)} }

// next is the next event. The error that ends the stream, io.EOF at its end, comes alone. A last event
// without an empty line behind it counts if it is whole.
func (e *eventReader) next() (streamEvent, error) {
	for {
		if len(e.queue) > 0 {
			first := e.queue[0]
			e.queue = e.queue[1:]
			if first.data != nil && !first.bare {
				e.events++
			}
			return first, nil
		}
		if e.err != nil {
			return streamEvent{}, e.err
		}
		var line []byte
		line, e.err = e.line()
		if e.err == nil || len(line) > 0 && !isCut(line) {
			e.field(line)
		}
		switch {
		case e.err != nil:
			e.last()
		case len(line) == 0:
			e.dispatch()
		}
	}
}

// isCut reports whether a line that the end of the stream cut may be the beginning of
// a field's name, or of the mark.
func isCut(line []byte) bool {
	for _, whole := range []string{"data", "event", "id", "retry", string(byteOrderMark)} {
		if strings.HasPrefix(whole, string(line)) {
			return true
		}
	}
	return false
}

// field takes a line of an event.
func (e *eventReader) field(line []byte) {
	name, value, colon := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "":
		if colon {
			e.queue = append(e.queue, streamEvent{})
		}
	case "data":
		if e.data != nil {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		if e.data == nil {
			e.data = []byte{}
		}
	case "event":
		e.name = string(value)
	case "id", "retry":
	case "error":
		e.queue = append(e.queue, streamEvent{name: "error", data: bytes.Clone(value)})
	default:
		e.outside(line)
	}
	if len(e.data)+len(e.bare) > mostEvent {
		e.err = ErrLongEvent
	}
}

func (e *eventReader) dispatch() {
	if e.data != nil || e.name == "error" {
		e.queue = append(e.queue, streamEvent{name: e.name, data: append([]byte{}, e.data...)})
	}
	e.name, e.data = "", nil
}

// last ends the event in whose midst the stream ends, if it is whole.
func (e *eventReader) last() {
	data := bytes.TrimSpace(e.data)
	if isDone(data) || json.Valid(data) || e.name == "error" && errors.Is(e.err, io.EOF) && len(data) > 0 {
		e.dispatch()
	}
	e.document(true)
}

// outside takes a line outside of events. JSON becomes an event as soon as it is whole, which it can be only
// at the end of a line that closes the bracket of the first one.
func (e *eventReader) outside(line []byte) {
	text := bytes.TrimSpace(line)
	opens := len(text) > 0 && (text[0] == '{' || text[0] == '[')
	if e.bare == nil && !opens {
		e.keep(text)
		return
	}
	first := e.bare == nil
	e.bare = append(append(e.bare, line...), '\n')
	if first || line[0] == '}' || line[0] == ']' {
		e.document(false)
	}
}

// document makes an event of the JSON outside of events, and one of each element of a list. At the end of the
// stream, other text is kept as words.
func (e *eventReader) document(end bool) {
	text := bytes.TrimSpace(e.bare)
	var elements []json.RawMessage
	switch {
	case len(text) == 0:
		return
	case json.Valid(text) && text[0] == '[':
		_ = json.Unmarshal(text, &elements) // it is valid, and a list
	case json.Valid(text):
		elements = []json.RawMessage{text}
	case end:
		e.keep(text)
		return
	default:
		return
	}
	for _, element := range elements {
		e.queue = append(e.queue, streamEvent{data: element, bare: true})
	}
	e.bare = nil
}

// keep stores words outside of events.
func (e *eventReader) keep(words []byte) {
	if room := mostOther - len(e.other); room > 0 && len(words) > 0 {
		if len(e.other) > 0 {
			e.other = append(e.other, '\n')
		}
		e.other = append(e.other, words[:min(room, len(words))]...)
	}
}

func isDone(data []byte) bool { return string(data) == "[DONE]" }

// line reads up to the end of a line, which is left out: a line feed, a carriage return, or both. With an
// error it returns the text before it.
func (e *eventReader) line() ([]byte, error) {
	var line []byte
	for {
		if _, err := e.in.Peek(1); err != nil {
			return e.unmarked(line), err
		}
		ready, _ := e.in.Peek(e.in.Buffered()) // they are buffered
		if e.ended && ready[0] == '\n' {
			ready = ready[1:]
			_, _ = e.in.Discard(1)
		}
		e.ended = false
		at := bytes.IndexByte(ready, '\n')
		if back := bytes.IndexByte(ready[:max(at, 0)], '\r'); at >= 0 && back >= 0 {
			at = back
		} else if at < 0 {
			at = bytes.IndexByte(ready, '\r')
		}
		if at < 0 {
			line = append(line, ready...)
			_, _ = e.in.Discard(len(ready))
			if len(line) > mostEvent {
				return nil, ErrLongEvent
			}
			continue
		}
		line = append(line, ready[:at]...)
		e.ended = ready[at] == '\r'
		_, _ = e.in.Discard(at + 1)
		return e.unmarked(line), nil
	}
}

// unmarked is a line without the mark that may precede the first one.
func (e *eventReader) unmarked(line []byte) []byte {
	if !e.begun {
		e.begun, line = true, bytes.TrimPrefix(line, byteOrderMark)
	}
	return line
}
