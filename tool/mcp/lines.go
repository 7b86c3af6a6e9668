package mcp

import (
	"bufio"
	"bytes"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines passes on the messages among the lines of a server. Other lines of its standard output go the way of
// its standard error.
type lines struct {
	out  io.ReadCloser
	from *bufio.Reader
	rest []byte // of the line that is being passed on
	said io.Writer
	saw  func(jsonrpc.Message) // receives each message before it is passed on
	fail func(error)           // receives the reason for the end of reading
}

func newLines(out io.ReadCloser, said io.Writer, saw func(jsonrpc.Message), fail func(error)) *lines {
	return &lines{out: out, from: bufio.NewReaderSize(out, 64<<10), said: said, saw: saw, fail: fail}
}

// Read implements [io.Reader].
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		default:
			if message, is := l.message(line); is {
				l.rest = append(message, '\n')
				continue
			}
			_, _ = l.said.Write(append(line[:min(len(line), tailSize)], '\n'))
		}
		if err != nil {
			l.end(err)
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// end gives the reason for the end of reading.
func (l *lines) end(err error) {
	if err != errTooLong {
		err = errOutput
	}
	l.fail(err)
}

// message is the message on a line, with every part of an answer readable.
func (l *lines) message(line []byte) ([]byte, bool) {
	mended, message, err := mend(line, jsonrpc.ID{})
	if err != nil {
		return nil, false
	}
	l.saw(message)
	return mended, true
}

// next reads a line. An error comes with the last one.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.from.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errTooLong
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(line, []byte{'\n'}), err
		}
	}
}

// Close implements [io.Closer].
func (l *lines) Close() error { return l.out.Close() }
