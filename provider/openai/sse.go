package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxEvent is the longest event that is read, in bytes.
const maxEvent = 64 << 20

// An eventReader splits a stream into server-sent events. The one of the SDK
// skips comments, which say that the server lives, and does not tell an ended
// stream from a broken one.
type eventReader struct {
	in    *bufio.Reader
	begun bool // a line was read
}

// mark may stand before the first line of a stream, and is no part of it.
var mark = []byte("\ufeff")

func newEventReader(in io.Reader) *eventReader { return &eventReader{in: bufio.NewReader(in)} }

// isDocument reports whether what comes is JSON or HTML instead of events.
// Servers send events under any type, and anything as events.
func (r *eventReader) isDocument() bool {
	first, _ := r.in.Peek(1) // an error comes again when events are read
	return len(first) > 0 && bytes.Contains([]byte("{[<"), first)
}

// next returns the data of the next event, nil for a comment. What stands
// before the end of the stream without an empty line behind it is an event if
// it is whole. The error is io.EOF at the end.
func (r *eventReader) next() ([]byte, error) {
	var data []byte
	for {
		line, err := r.line(maxEvent - len(data))
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case err == nil && len(line) == 0 && data != nil:
			return data, nil
		case err == nil && len(line) > 0 && len(name) == 0 && data == nil:
			return nil, nil
		case string(name) == "data":
			data = extend(data, bytes.TrimPrefix(value, []byte(" ")))
		}
		switch {
		case errors.Is(err, io.EOF) && isWhole(data):
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

// extend adds a line to an event's data.
func extend(data, line []byte) []byte {
	if data == nil {
		return append([]byte{}, line...)
	}
	return append(append(data, '\n'), line...)
}

func isWhole(data []byte) bool { return isDone(data) || json.Valid(data) }

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// line reads up to the end of a line, which is left out. With an error it
// returns what came before it.
func (r *eventReader) line(most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		if len(line)+len(piece) > most {
			return nil, errLongEvent
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			if !r.begun {
				r.begun, line = true, bytes.TrimPrefix(line, mark)
			}
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			return line, err
		}
	}
}
