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

// A Retry sets the number of tries and the pauses between them. The zero value tries five times, with pauses
// from one second up to a minute.
type Retry struct {
	Tries int           // tries in all, the first included; 0: 5
	Base  time.Duration // greatest pause after the first failure; 0: 1s
	Max   time.Duration // greatest pause that jp chooses; 0: 60s
	Asked time.Duration // greatest pause that a provider may ask for; 0: 60s; negative: any
}

// Delay is how long to wait after the given number of failed tries, the last of them with err; ok is false if
// there is no further try. A pause that the provider asks for, even in its error text, is kept. If it is
// longer than Asked, there is no further try. Otherwise the pause is a random part, from random in [0,1), of
// a limit that doubles with each failure.
func (r Retry) Delay(failed int, err error, random func() float64) (time.Duration, bool) {
	r = r.withDefaults()
	if failed >= r.Tries || !retryable(err) {
		return 0, false
	}
	if wait := waitOfError(err); wait > 0 {
		return wait, r.TooLong(err) == 0
	}
	limit := min(r.Base, r.Max)
	for i := 1; i < failed && limit < r.Max; i++ {
		limit = min(2*limit, r.Max)
	}
	return time.Duration(random() * float64(limit)), true
}

// TooLong is the pause that the provider asks for if it is longer than jp waits, else 0.
func (r Retry) TooLong(err error) time.Duration {
	r = r.withDefaults()
	wait := waitOfError(err)
	if r.Asked < 0 || wait <= r.Asked || !retryable(err) {
		return 0
	}
	return wait
}

// waitOfError is the pause that a provider asks for, in a header or in its text, else 0.
func waitOfError(err error) time.Duration {
	var failure *Error
	if !errors.As(err, &failure) {
		return 0
	}
	return cmp.Or(failure.RetryAfter, retryAfterWords(failure.Message))
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
	if r.Asked == 0 {
		r.Asked = time.Minute
	}
	return r
}

// retryable reports whether the failure may pass by itself. The end of the caller's own context is final.
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
