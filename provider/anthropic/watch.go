package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"

	"jp/provider"
)

// errSilent says that nothing came for too long.
var errSilent = errors.New("nothing came for too long")

// A watch ends a request whose server has nothing to say. Time passes only
// while somebody waits for the server.
type watch struct {
	idle  time.Duration
	timer *time.Timer   // nil: waits for ever
	body  io.ReadCloser // nil until there is a response
}

// newWatch starts a watch that ends a request by cancel.
func newWatch(idle time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{idle: idle}
	if idle > 0 {
		w.timer = time.AfterFunc(idle, func() { cancel(errSilent) })
	}
	return w
}

// guard watches over one request and the body of its response.
func (w *watch) guard(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	w.start()
	defer w.stop()
	response, err := next(request)
	if response != nil && response.Body != nil {
		w.body = response.Body
		response.Body = w
	}
	return response, err
}

func (w *watch) start() {
	if w.timer != nil {
		w.timer.Reset(w.idle)
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// Read reads from the response.
func (w *watch) Read(data []byte) (int, error) {
	w.start()
	defer w.stop()
	return w.body.Read(data)
}

// Close closes the response.
func (w *watch) Close() error { return w.body.Close() }

// close ends the watch and the response.
func (w *watch) close() {
	w.stop()
	if w.body != nil {
		// Whatever could still go wrong, nothing more is read from it.
		_ = w.body.Close()
	}
}

func (w *watch) timeout() error {
	return &provider.Error{
		Class: provider.ClassTimeout, Provider: API,
		Message: fmt.Sprintf("nothing came for %s", w.idle), Err: errSilent,
	}
}
