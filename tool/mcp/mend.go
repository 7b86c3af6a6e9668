package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine is how long a message of a server may be, in bytes: enough for the
// largest result that is kept, as base64.
const maxLine = 32 << 20

// errTooLong is a message above that.
var errTooLong = fmt.Errorf("it wrote a message of more than %d MiB", maxLine>>20)

// mend makes each part of an answer readable, and gives a response the id of its call: some servers repeat the id
// as a string. call is the id of the only call that data can answer, if there is one.
func mend(data []byte, call jsonrpc.ID) ([]byte, jsonrpc.Message, error) {
	message, err := jsonrpc.DecodeMessage(data)
	if err != nil && call.IsValid() {
		message, err = withoutID(data, err)
	}
	if err != nil {
		return data, nil, err
	}
	response, is := message.(*jsonrpc.Response)
	if !is {
		return data, message, nil
	}
	id := numbered(response.ID)
	if call.IsValid() {
		id = call
	}
	mended := id != response.ID
	response.ID = id
	if response.Error == nil {
		if result, changed := readable(response.Result); changed {
			response.Result, mended = result, true
		}
	}
	if mended {
		if again, err := jsonrpc.EncodeMessage(response); err == nil {
			data = again
		}
	}
	return data, message, nil
}

// numbered is the id as the client sends it: a whole number.
func numbered(id jsonrpc.ID) jsonrpc.ID {
	text, _ := id.Raw().(string)
	if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && n == math.Trunc(n) {
		if whole, err := jsonrpc.MakeID(n); err == nil {
			return whole
		}
	}
	return id
}

// withoutID is a response whose id is missing or invalid. Otherwise it returns err.
func withoutID(data []byte, err error) (jsonrpc.Message, error) {
	var wire map[string]json.RawMessage
	if json.Unmarshal(data, &wire) != nil || wire["method"] != nil || wire["result"] == nil && wire["error"] == nil {
		return nil, err
	}
	wire["id"] = json.RawMessage("0")
	again, failed := json.Marshal(wire)
	if failed != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(again)
}

// mendBody makes the answers in a body readable: one message, or a stream of events. call is the id of the
// request that the body answers, if it asks for an answer. Then other makes the error for a body of another
// kind.
func mendBody(response *http.Response, call jsonrpc.ID, other func(body []byte) error) error {
	kind := response.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "text/event-stream"):
		response.Body = &eventBody{call: call, body: response.Body, from: bufio.NewReaderSize(response.Body, 64<<10)}
	case strings.HasPrefix(kind, "application/json") || call.IsValid():
		data, err := io.ReadAll(&boundedBody{response.Body, maxLine})
		response.Body.Close()
		if err != nil {
			return err
		}
		mended, _, err := mend(data, call)
		if err != nil && call.IsValid() {
			return other(data)
		}
		data = mended
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		response.Header.Del("Content-Length")
		response.Header.Set("Content-Type", "application/json")
	default:
		response.Body = &boundedBody{response.Body, maxLine}
	}
	return nil
}

// An eventBody passes on a stream of events. The data of an event is held back until the event ends.
type eventBody struct {
	call  jsonrpc.ID // that the stream answers
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
		whole, _, _ := mend(bytes.Join(b.lines, []byte("\n")), b.call)
		for one := range bytes.SplitSeq(whole, []byte("\n")) {
			b.rest = append(append(append(b.rest, "data: "...), one...), '\n')
		}
		b.rest = append(b.rest, line...)
		b.lines, b.size = nil, 0
	default:
		b.rest = line
	}
}

// A boundedBody fails if it has more bytes than are left.
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
