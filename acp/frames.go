package acp

import (
	"bufio"
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
	ID     json.RawMessage // nil for a notification
	Method string          // "" for a response
	Params json.RawMessage
	Result json.RawMessage
	Error  *rpcError
}

// frames reads messages, one a line.
type frames struct{ in *bufio.Reader }

func newFrames(in io.Reader) *frames { return &frames{bufio.NewReaderSize(in, 64<<10)} }

// next reads the next message. A line that is none gives an *rpcError, and the one after it can be
// read. io.EOF ends the input, also within a line.
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
			return message{}, err
		}
		break
	}
	if tooLong {
		return message{}, &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("the message has more than %d bytes", maxFrame)}
	}
	return parse(line)
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
			return m, &rpcError{Code: codeInvalidRequest, Message: fmt.Sprintf("the field %q of the message: %v", field.Key, err)}
		}
	}
	switch {
	case version != "2.0":
		return m, &rpcError{Code: codeInvalidRequest, Message: `the message is not of JSON-RPC 2.0: it has no "jsonrpc":"2.0"`}
	case m.Method == "" && m.ID == nil:
		return m, &rpcError{Code: codeInvalidRequest, Message: "the message has no method and no id"}
	case m.ID != nil && m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9'):
		m.ID = nil
		return m, &rpcError{Code: codeInvalidRequest, Message: "the id of the message is not a number or a string"}
	}
	return m, nil
}
