package provider

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// A Retry says how often and after which pauses a failed request is tried
// again. The zero value tries five times, with pauses that begin at one second
// and never exceed a minute.
type Retry struct {
	Tries int           // tries in all, the first included; 0: 5
	Base  time.Duration // greatest pause after the first failure; 0: 1s
	Max   time.Duration // greatest pause ever; 0: 60s
}

// Delay is how long to wait after the given number of failed tries, the last of
// them with err; false says not to try again. What the provider asks for is
// honoured up to Max, also where only its words say it; otherwise the pause is a random part, from random in
// [0,1), of a limit that doubles with each failure.
func (r Retry) Delay(failed int, err error, random func() float64) (time.Duration, bool) {
	r = r.withDefaults()
	if failed >= r.Tries || !retryable(err) {
		return 0, false
	}
	var failure *Error
	if errors.As(err, &failure) {
		if wait := cmp.Or(failure.RetryAfter, retryAfterWords(failure.Message)); wait > 0 {
			return min(wait, r.Max), true
		}
	}
	limit := min(r.Base, r.Max)
	for i := 1; i < failed && limit < r.Max; i++ {
		limit = min(2*limit, r.Max)
	}
	return time.Duration(random() * float64(limit)), true
}

func (r Retry) withDefaults() Retry {
	if r.Tries == 0 {
		r.Tries = 5
	}
	if r.Base == 0 {
		r.Base = time.Second
	}
	if r.Max == 0 {
		r.Max = time.Minute
	}
	return r
}

// retryable reports whether the failure may pass by itself. An end of the
// caller's own context never does.
func retryable(err error) bool {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Class.Transient() || failure.Class == "" && failure.RetryAfter > 0
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE} {
		if errors.Is(err, broken) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network)
}
