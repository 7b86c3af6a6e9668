package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// StreamLimits are how long a request may go without progress. Zero: unlimited.
type StreamLimits struct {
	Silence time.Duration // without any data from the server
	Stall   time.Duration // without a piece of an answer: signs of life do not count
}

// streamGrace is how long jp waits for the usage and the end of an answer whose finish is
// known.
const streamGrace = 5 * time.Second

// Why a request is ended.
var (
	errSilent  = errors.New("the server sent nothing for too long")
	errStalled = errors.New("the server sent nothing of an answer for too long")
	errLate    = errors.New("the answer is over, and the stream is not")
)

// A StreamWatch ends a stalled request. It stops its clock while the receiver of the answer is busy. It is for one
// goroutine.
type StreamWatch struct {
	limits  StreamLimits
	cancel  context.CancelCauseFunc
	ctx     context.Context
	timer   *time.Timer
	why     atomic.Pointer[error] // the timer's reason for ending the request
	grace   bool                  // the finish is known
	counted time.Duration         // since the last content, up to since
	since   time.Time             // zero while the receiver is busy
}

// NewStreamWatch returns a watch over a request that runs under the context that it
// returns. The watch has to be closed.
func NewStreamWatch(ctx context.Context, l StreamLimits) (*StreamWatch, context.Context) {
	w := &StreamWatch{limits: l, since: time.Now()}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(time.Hour, func() { w.cancel(*w.why.Load()) })
	w.timer.Stop()
	return w, w.ctx
}

// Close ends the watch and its request.
func (w *StreamWatch) Close() {
	w.timer.Stop()
	w.cancel(nil)
}

// Wait limits the wait for the server, until a call of done.
func (w *StreamWatch) Wait() (done func()) {
	left, why := w.left()
	if w.limits.Silence > 0 && (left < 0 || w.limits.Silence < left) {
		left, why = w.limits.Silence, errSilent
	}
	if left < 0 {
		return func() {}
	}
	w.why.Store(&why)
	w.timer.Reset(left)
	return func() { w.timer.Stop() }
}

// left is the time left without progress, negative for ever.
func (w *StreamWatch) left() (time.Duration, error) {
	limit, why := w.limits.Stall, errStalled
	if w.grace {
		limit, why = streamGrace, errLate
	}
	if limit <= 0 {
		return -1, nil
	}
	counted := w.counted
	if !w.since.IsZero() {
		counted += time.Since(w.since)
	}
	return max(0, limit-counted), why
}

// over ends the request if it made no progress for too long. The timer alone misses a server that sends
// without a pause.
func (w *StreamWatch) over() error {
	if left, why := w.left(); left == 0 {
		w.cancel(why)
	}
	return context.Cause(w.ctx)
}

// content restarts the clock after a piece of an answer.
func (w *StreamWatch) content() {
	w.counted = 0
	if !w.since.IsZero() {
		w.since = time.Now()
	}
}

func (w *StreamWatch) finished() {
	if !w.grace {
		w.grace = true
		w.content()
	}
}

// pause stops the clock while the receiver is busy, until resume.
func (w *StreamWatch) pause() {
	w.counted += time.Since(w.since)
	w.since = time.Time{}
}

func (w *StreamWatch) resume() { w.since = time.Now() }

// Timeout is the error of a request that the watch ended, else nil.
func (w *StreamWatch) Timeout() error {
	cause := context.Cause(w.ctx)
	message := ""
	switch {
	case errors.Is(cause, errSilent):
		message = fmt.Sprintf("nothing came for %s (limits.model_silence)", w.limits.Silence)
	case errors.Is(cause, errStalled):
		message = fmt.Sprintf("nothing of an answer came for %s, only signs of life (limits.model_stall)", w.limits.Stall)
	default:
		return nil
	}
	return &Error{Class: ClassTimeout, Message: message, Err: cause}
}

// A watchedBody reader reads from a server under a watch.
type watchedBody struct {
	in    io.Reader
	watch *StreamWatch
}

func (r watchedBody) Read(p []byte) (int, error) {
	if err := r.watch.over(); err != nil {
		return 0, err
	}
	defer r.watch.Wait()()
	return r.in.Read(p)
}
