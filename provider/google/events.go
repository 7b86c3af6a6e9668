package google

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxEvent bounds one event of a stream, which holds a function call whole.
const maxEvent = 64 << 20

// errEventSize says that an event is longer than any that is read.
var errEventSize = fmt.Errorf("an event of more than %d MiB", maxEvent>>20)

// events reads server-sent events. Only their data matters.
type events struct {
	in    *bufio.Reader
	data  []byte // of the event so far
	other []byte // all other lines: a server that breaks down sends bare JSON
	begun bool   // a line was read
}

// mark may stand before the first line of a stream, and is no part of it.
var mark = []byte("\ufeff")

func newEvents(r io.Reader) *events { return &events{in: bufio.NewReader(r)} }

// next is the data of the next event, or nil for a sign of life without any.
// At the end of the stream it is io.EOF: what is left then is an event if it is
// whole.
func (e *events) next() ([]byte, error) {
	for {
		line, err := e.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		comment := e.field(line)
		switch {
		case err != nil:
			if data := e.take(); json.Valid(data) {
				return data, nil
			}
			return nil, io.EOF
		case len(e.data)+len(e.other) > maxEvent:
			return nil, errEventSize
		case comment:
			return nil, nil
		case len(line) == 0:
			if data := e.take(); data != nil {
				return data, nil
			}
		}
	}
}

// field adds a line to the event, and reports whether it is a comment.
func (e *events) field(line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data":
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
	case "":
		return len(line) > 0
	default:
		e.other = append(append(e.other, line...), '\n')
	}
	return false
}

// take ends the event and returns its data, nil where it has none.
func (e *events) take() []byte {
	data := e.data
	if data == nil && json.Valid(e.other) {
		data = firstOf(e.other)
	}
	e.data, e.other = nil, nil
	return data
}

// line is the next line without its end. With an error comes what stood before
// it.
func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := e.in.ReadSlice('\n')
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			if !e.begun {
				e.begun, line = true, bytes.TrimPrefix(line, mark)
			}
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
		}
		if len(line) > maxEvent {
			return nil, errEventSize
		}
	}
}
