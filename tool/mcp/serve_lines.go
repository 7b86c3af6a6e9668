package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"sync"
)

// maxRequest is how long a message may be, in bytes.
const maxRequest = 16 << 20

// The answers of JSON-RPC to a line that is no message.
const (
	notJSON    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a message is one line of JSON, of 16 MiB at most"}}` + "\n"
	notMessage = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is an object with jsonrpc 2.0, and a method or a result; it is never a batch"}}` + "\n"
)

// requestLines passes on the lines that are messages, and answers the others with an
// error: a client that writes one wrong line can go on.
type requestLines struct {
	in   io.ReadCloser
	out  io.Writer
	from *bufio.Reader
	rest []byte // of the line that is being passed on
}

func newRequestLines(in io.ReadCloser, out io.Writer) *requestLines {
	return &requestLines{in: in, out: out, from: bufio.NewReaderSize(in, 64<<10)}
}

// Read implements [io.Reader].
func (l *requestLines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, whole, err := l.next()
		switch {
		case len(bytes.TrimSpace(line)) == 0 && whole:
		case whole && isMessage(line):
			l.rest = append(line, '\n')
			continue
		default:
			wrong := notJSON
			if whole && json.Valid(line) {
				wrong = notMessage
			}
			if _, err := io.WriteString(l.out, wrong); err != nil {
				return 0, err
			}
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// isMessage reports whether a line is a request, a notification or a response.
func isMessage(line []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(line, &m) != nil || m.Version != "2.0" {
		return false
	}
	var id any
	if m.ID != nil {
		if json.Unmarshal(m.ID, &id) != nil {
			return false
		}
		switch n := id.(type) {
		case string:
		case float64:
			if n != math.Trunc(n) {
				return false
			}
		default:
			return false
		}
	}
	return m.Method != nil || m.ID != nil && (m.Result != nil || m.Error != nil)
}

// next reads a line; whole is false for one that is too long, whose text it drops. An error comes with
// the last one.
func (l *requestLines) next() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := l.from.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= maxRequest; whole {
			line = append(line, part...)
		} else {
			line = nil
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(line, []byte{'\n'}), whole, err
		}
	}
}

// Close implements [io.Closer].
func (l *requestLines) Close() error { return l.in.Close() }

// A lockedWriter writes one message at a time.
type lockedWriter struct {
	io.WriteCloser
	mu sync.Mutex
}

// Write implements [io.Writer].
func (s *lockedWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.WriteCloser.Write(p)
}
