package mcp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine is how long a message of a server may be, in bytes: enough for the
// largest result that is kept, as base64.
const maxLine = 32 << 20

// errTooLong is a message above that.
var errTooLong = fmt.Errorf("it wrote a message of more than %d MiB", maxLine>>20)

// mend makes each part of an answer readable. Anything else stays as it is.
func mend(data []byte) ([]byte, jsonrpc.Message, error) {
	message, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return data, nil, err
	}
	if response, is := message.(*jsonrpc.Response); is && response.Error == nil {
		if result, mended := readable(response.Result); mended {
			response.Result = result
			if again, err := jsonrpc.EncodeMessage(response); err == nil {
				data = again
			}
		}
	}
	return data, message, nil
}

// mendBody makes the answers in a body readable: one message, or a stream of events.
func mendBody(response *http.Response) error {
	kind := response.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "text/event-stream"):
		response.Body = &eventBody{body: response.Body, from: bufio.NewReaderSize(response.Body, 64<<10)}
	case strings.HasPrefix(kind, "application/json"):
		data, err := io.ReadAll(&boundedBody{response.Body, maxLine})
		response.Body.Close()
		if err != nil {
			return err
		}
		data, _, _ = mend(data)
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		response.Header.Del("Content-Length")
	default:
		response.Body = &boundedBody{response.Body, maxLine}
	}
	return nil
}

// An eventBody passes on a stream of events. The data of an event is held back until the event ends.
type eventBody struct {
	body  io.ReadCloser
	from  *bufio.Reader
	lines [][]byte // with data, of the event that is being read
	size  int
	rest  []byte // to be passed on
	err   error  // comes behind it
}

// Close implements [io.Closer].
func (b *eventBody) Close() error { return b.body.Close() }

// Read implements [io.Reader].
func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.rest) == 0 && b.err == nil {
		b.next()
	}
	if len(b.rest) == 0 {
		return 0, b.err
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// next reads a line.
func (b *eventBody) next() {
	var line []byte
	for {
		part, err := b.from.ReadSlice('\n')
		if line = append(line, part...); b.size+len(line) > maxLine {
			b.err = errTooLong
			return
		}
		if err != bufio.ErrBufferFull {
			b.err = err
			break
		}
	}
	text := bytes.TrimRight(line, "\r\n")
	data, is := bytes.CutPrefix(text, []byte("data:"))
	switch {
	case is && b.err == nil:
		b.lines, b.size = append(b.lines, bytes.TrimPrefix(data, []byte(" "))), b.size+len(line)
	case len(text) == 0 && len(b.lines) > 0:
		whole, _, _ := mend(bytes.Join(b.lines, []byte("\n")))
		for one := range bytes.SplitSeq(whole, []byte("\n")) {
			b.rest = append(append(append(b.rest, "data: "...), one...), '\n')
		}
		b.rest = append(b.rest, line...)
		b.lines, b.size = nil, 0
	default:
		b.rest = line
	}
}

// A boundedBody fails where it has more bytes than are left.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		return 0, errTooLong
	}
	b.left -= n
	return n, err
}
