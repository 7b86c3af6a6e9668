package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// maxLine is how long a message may be, in bytes.
const maxLine = 16 << 20

// notJSON answers what is no message, as JSON-RPC wants it.
const notJSON = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a message is one line of JSON, of 16 MiB at most"}}` + "\n"

// lines passes on the lines that are JSON, and answers the others with an error: a
// client that writes one wrong line can go on.
type lines struct {
	in   io.ReadCloser
	out  io.Writer
	from *bufio.Reader
	rest []byte // of the line that is being passed on
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in: in, out: out, from: bufio.NewReaderSize(in, 64<<10)}
}

// Read implements [io.Reader].
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, whole, err := l.next()
		switch {
		case len(bytes.TrimSpace(line)) == 0 && whole:
		case whole && json.Valid(line):
			l.rest = append(line, '\n')
			continue
		default:
			if _, err := io.WriteString(l.out, notJSON); err != nil {
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

// next reads a line; whole is false for one that is too long, of which nothing is
// kept. An error comes with the last one.
func (l *lines) next() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := l.from.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= maxLine; whole {
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
func (l *lines) Close() error { return l.in.Close() }

// A shared writer writes one message at a time.
type shared struct {
	io.WriteCloser
	mu sync.Mutex
}

// Write implements [io.Writer].
func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.WriteCloser.Write(p)
}
