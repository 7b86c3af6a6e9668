package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"jp/conversation"
)

// maxFrame is the longest message that jp reads, in bytes.
const maxFrame = 8 << 20

// A message is one of JSON-RPC.
type message struct {
	ID       json.RawMessage // nil for a notification
	Method   string          // "" for a response
	Params   json.RawMessage
	Result   json.RawMessage
	Error    *rpcError
	response bool // of an unreadable one: it is a response
}

// frames reads messages, one a line.
type frames struct{ in *bufio.Reader }

func newFrames(in io.Reader) *frames { return &frames{bufio.NewReaderSize(in, 64<<10)} }

// next reads the next message. For an invalid line it gives an *rpcError beside outline's findings, and the
// next line can be read. The last message needs no line break. io.EOF ends the input, also within a message.
func (f *frames) next() (message, error) {
	var line []byte
	tooLong := false
	for {
		part, err := f.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxFrame; !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			if m, wrong := parse(line); wrong == nil && !tooLong {
				return m, nil
			}
			return message{}, err
		}
		break
	}
	if tooLong {
		return outline(line), &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("the message has more than %d bytes", maxFrame)}
	}
	m, err := parse(line)
	if err != nil {
		return outline(line), err
	}
	return m, nil
}

// outline finds, in an invalid line or the beginning of a message, the id of its request: the waiting side
// has to learn of the error. It finds nothing in a line with two ids.
func outline(line []byte) (m message) {
	d := json.NewDecoder(bytes.NewReader(line))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return message{}
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			break
		}
		switch key {
		case "method":
			m.Method = "unknown"
		case "result", "error":
			m.response = true
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		if key == "id" {
			if m.ID != nil {
				return message{}
			}
			m.ID = value
		}
	}
	if m.response = m.response && m.Method == ""; !isID(m.ID) {
		m.ID = nil
	}
	return m
}

// isID reports whether a value can be the id of a message: a number or a string.
func isID(v json.RawMessage) bool {
	return len(v) > 0 && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9')
}

// parse reads one line.
func parse(line []byte) (m message, err error) {
	fields, err := conversation.ParseObject(line)
	if err != nil {
		return m, &rpcError{Code: codeParse, Message: err.Error()}
	}
	version := ""
	for _, field := range fields {
		switch field.Key {
		case "jsonrpc":
			err = json.Unmarshal(field.Raw, &version)
		case "id":
			m.ID = json.RawMessage(field.Raw)
		case "method":
			err = json.Unmarshal(field.Raw, &m.Method)
		case "params":
			m.Params = json.RawMessage(field.Raw)
		case "result":
			m.Result = json.RawMessage(field.Raw)
		case "error":
			err = json.Unmarshal(field.Raw, &m.Error)
		}
		if err != nil {
			return m, &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("the field %q of the message: %s", field.Key, misfit(err))}
		}
	}
	switch {
	case version != "2.0":
		return m, &rpcError{Code: codeInvalidRequest, Message: `the message is not of JSON-RPC 2.0: it has no "jsonrpc":"2.0"`}
	case m.Method == "" && m.ID == nil:
		return m, &rpcError{Code: codeInvalidRequest, Message: "the message has no method and no id"}
	case m.ID != nil && !isID(m.ID):
		return m, &rpcError{Code: codeInvalidRequest, Message: "the id of the message is not a number or a string"}
	}
	return m, nil
}
