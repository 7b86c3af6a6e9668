package openai

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"jp/provider"
)

// A reader makes chunks of the events of one answer.
type reader interface {
	// read takes the data of an event.
	read(data []byte) ([]provider.Chunk, error)
	// finish returns the last chunks. It is false where the answer is not whole.
	finish() ([]provider.Chunk, bool)
	// whole reports whether nothing more is to come.
	whole() bool
}

// An exchange is one request and its answer.
type exchange struct {
	options Options
	ctx     context.Context // ends with the caller's, and when the server is silent
	cancel  context.CancelCauseFunc
	silence *time.Timer
	body    io.ReadCloser
	events  *eventReader
}

// stream sends a body and yields the chunks of the answer.
func (o Options) stream(ctx context.Context, path string, body any, r reader) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		x := o.begin(ctx)
		defer x.end()
		if err := x.send(path, body); err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		x.receive(ctx, r, yield)
	}
}

func (o Options) begin(ctx context.Context) *exchange {
	x := &exchange{options: o}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	if idle := o.idleTimeout(); idle > 0 {
		x.silence = time.AfterFunc(idle, func() { x.cancel(errIdle) })
	}
	return x
}

// end frees everything that the exchange holds.
func (x *exchange) end() {
	x.rest()
	x.cancel(nil)
	if x.body != nil {
		_ = x.body.Close() // nothing is lost by what could go wrong here
	}
}

// rest stops the clock while nothing is expected of the server.
func (x *exchange) rest() {
	if x.silence != nil {
		x.silence.Stop()
	}
}

// Read reads from the body, and waits no longer than the server may be silent.
func (x *exchange) Read(p []byte) (int, error) {
	if x.silence != nil {
		x.silence.Reset(x.options.idleTimeout())
	}
	defer x.rest()
	return x.body.Read(p)
}

// send sends the body and waits for the answer to begin.
func (x *exchange) send(path string, body any) error {
	if !isAddress(x.options.baseURL()) {
		return x.options.failure(provider.Error{Class: provider.ClassInvalid, Message: "the base URL is no address"})
	}
	var response *http.Response
	client := sdk.Client{Options: x.options.requestOptions()}
	err := client.Post(x.ctx, path, body, &response, option.WithHeader("Accept", "text/event-stream"))
	x.rest()
	switch {
	case response != nil && response.StatusCode/100 == 3:
		_ = response.Body.Close()
		return x.options.failure(provider.Error{Class: provider.ClassInvalid, Status: response.StatusCode, Message: "the server answers elsewhere, or not at all"})
	case response != nil && response.StatusCode >= http.StatusBadRequest:
		defer response.Body.Close()
		if x.ctx.Err() != nil {
			return x.broken(x.ctx.Err())
		}
		return x.options.refused(response)
	case err != nil:
		return x.broken(err)
	}
	x.body = response.Body
	x.events = newEventReader(x)
	if x.events.isDocument() {
		return x.unstreamed()
	}
	return nil
}

// isAddress keeps a mistyped address, with whatever secret it holds, out of the
// errors of those who parse it.
func isAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// requestOptions are all that the SDK goes by: a client made by its constructor
// would send what it finds in the environment to any endpoint.
func (o Options) requestOptions() []option.RequestOption {
	client := o.Client
	if client == nil {
		client = http.DefaultClient
	}
	options := []option.RequestOption{
		option.WithBaseURL(o.baseURL()), option.WithHTTPClient(client), option.WithMaxRetries(0),
	}
	if o.Key != "" {
		options = append(options, option.WithAPIKey(o.Key))
	}
	return options
}

// receive yields what the reader makes of the answer.
func (x *exchange) receive(ctx context.Context, r reader, yield func(provider.Chunk, error) bool) {
	for !r.whole() {
		data, err := x.events.next()
		if err != nil || isDone(data) {
			x.conclude(ctx, r, err, yield)
			return
		}
		chunks, err := x.chunks(r, data)
		if !yieldAll(chunks, yield) {
			return
		}
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
	}
	x.conclude(ctx, r, nil, yield)
}

// chunks are those of one event. An event that says nothing still says that the
// server lives.
func (x *exchange) chunks(r reader, data []byte) ([]provider.Chunk, error) {
	if data == nil {
		return []provider.Chunk{{Kind: provider.ChunkKeepAlive}}, nil
	}
	if err := x.options.reported(data); err != nil {
		return nil, err
	}
	chunks, err := r.read(data)
	if err != nil {
		return nil, x.options.located(err)
	}
	if len(chunks) == 0 && !r.whole() {
		chunks = []provider.Chunk{{Kind: provider.ChunkKeepAlive}}
	}
	return chunks, nil
}

// conclude yields the end of the answer. An answer that is whole stays so, even
// if the connection breaks behind it.
func (x *exchange) conclude(ctx context.Context, r reader, err error, yield func(provider.Chunk, error) bool) {
	if ctx.Err() != nil {
		yield(provider.Chunk{}, ctx.Err())
		return
	}
	chunks, whole := r.finish()
	if whole {
		yieldAll(chunks, yield)
		return
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	yield(provider.Chunk{}, x.broken(err))
}

func yieldAll(chunks []provider.Chunk, yield func(provider.Chunk, error) bool) bool {
	for _, c := range chunks {
		if !yield(c, nil) {
			return false
		}
	}
	return true
}
