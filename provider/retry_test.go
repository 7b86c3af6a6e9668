package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRetryOnlyWhatMayPass(t *testing.T) {
	tests := []struct {
		err  error
		want bool
	}{
		{&Error{Class: ClassOverloaded}, true},
		{&Error{Class: ClassRateLimit}, true},
		{&Error{Class: ClassDisconnect}, true},
		{&Error{Class: ClassTimeout}, true},
		{fmt.Errorf("stream: %w", &Error{Class: ClassTimeout}), true},
		{&Error{RetryAfter: time.Second}, true},
		{&Error{Class: ClassAuth}, false},
		{&Error{Class: ClassQuota, RetryAfter: time.Second}, false},
		{&Error{Class: ClassContext}, false},
		{&Error{Class: ClassModel}, false},
		{&Error{Class: ClassInvalid}, false},
		{&Error{}, false},
		{io.ErrUnexpectedEOF, true},
		{fmt.Errorf("read: %w", syscall.ECONNRESET), true},
		{&net.DNSError{}, true},
		{context.Canceled, false},
		{context.DeadlineExceeded, false},
		{errors.New("a bug"), false},
		{nil, false},
	}
	for _, test := range tests {
		_, again := Retry{}.Delay(1, test.err, func() float64 { return 0 })
		require.Equal(t, test.want, again, "%v", test.err)
	}
}

func TestDelay(t *testing.T) {
	overloaded := &Error{Class: ClassOverloaded}
	most := func() float64 { return 0.999999999 }
	for failed, limit := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 8 * time.Second} {
		delay, again := Retry{}.Delay(failed, overloaded, most)
		require.True(t, again)
		require.InDelta(t, float64(limit), float64(delay), float64(time.Millisecond))
	}
	_, again := Retry{}.Delay(5, overloaded, most)
	require.False(t, again)

	delay, _ := Retry{}.Delay(1, &Error{Class: ClassRateLimit, RetryAfter: 7 * time.Second}, most)
	require.Equal(t, 7*time.Second, delay)
	delay, _ = Retry{}.Delay(1, &Error{Class: ClassRateLimit, Message: "Try again in 9s.", RetryAfter: 7 * time.Second}, most)
	require.Equal(t, 7*time.Second, delay)
	delay, _ = Retry{}.Delay(1, &Error{Class: ClassRateLimit, Message: "Try again in 9s."}, most)
	require.Equal(t, 9*time.Second, delay)
	delay, _ = Retry{}.Delay(1, &Error{Class: ClassRateLimit, Message: "Try again in 9m."}, most)
	require.Equal(t, time.Minute, delay)
	_, again = Retry{}.Delay(1, &Error{Class: ClassQuota, Message: "Try again in 9s."}, most)
	require.False(t, again)
	delay, _ = Retry{}.Delay(1, &Error{Class: ClassRateLimit, RetryAfter: time.Hour}, most)
	require.Equal(t, time.Minute, delay)
}

func TestDelayNeverPassesItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Retry{Tries: 1 << 30, Base: time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "base")), Max: time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "max"))}
		part := rapid.Float64Range(0, 0.999).Draw(t, "random")
		delay, again := r.Delay(rapid.IntRange(1, 1<<20).Draw(t, "failed"), io.EOF, func() float64 { return part })
		require.True(t, again)
		require.GreaterOrEqual(t, delay, time.Duration(0))
		require.LessOrEqual(t, delay, r.Max)
	})
}

func TestErrorSaysWhatIsKnown(t *testing.T) {
	err := &Error{Provider: "openai", Class: ClassRateLimit, Status: 429, Message: "slow down", Err: io.EOF}
	require.EqualError(t, err, "openai: rate_limit: HTTP 429: slow down")
	require.ErrorIs(t, err, io.EOF)
	require.EqualError(t, &Error{Class: ClassDisconnect, Err: io.EOF}, "disconnect: the stream ended before the answer did")
}

func TestAnErrorIsOneLine(t *testing.T) {
	err := &Error{Provider: "work", Class: ClassInvalid, Status: 400, Message: "bad\n\n    jp config set x y   fixes it\r\n\t"}
	require.Equal(t, "work: invalid: HTTP 400: bad jp config set x y fixes it", err.Error())
}
