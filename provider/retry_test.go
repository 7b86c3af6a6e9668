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
	_, again = Retry{}.Delay(1, &Error{Class: ClassQuota, Message: "Try again in 9s."}, most)
	require.False(t, again)
}

// If a provider asks for a longer wait than jp waits, jp gives up.
func TestALongWaitIsNotWaitedFor(t *testing.T) {
	header := func(d time.Duration) error { return &Error{Class: ClassRateLimit, RetryAfter: d} }
	tests := map[string]struct {
		retry Retry
		err   error
		again bool
		wait  time.Duration
		long  time.Duration
	}{
		"the bound itself":           {Retry{}, header(time.Minute), true, time.Minute, 0},
		"a little longer":            {Retry{}, header(time.Minute + time.Millisecond), false, 0, time.Minute + time.Millisecond},
		"an hour":                    {Retry{}, header(time.Hour), false, 0, time.Hour},
		"in words":                   {Retry{}, &Error{Class: ClassOverloaded, Message: "Try again in 9m."}, false, 0, 9 * time.Minute},
		"inside another error":       {Retry{}, fmt.Errorf("stream: %w", header(time.Hour)), false, 0, time.Hour},
		"a longer bound":             {Retry{Asked: 2 * time.Hour}, header(time.Hour), true, time.Hour, 0},
		"a shorter bound":            {Retry{Asked: time.Second}, header(2 * time.Second), false, 0, 2 * time.Second},
		"no bound":                   {Retry{Asked: -1}, header(longestWait), true, longestWait, 0},
		"longer than jp's own pause": {Retry{Asked: time.Minute, Max: time.Second}, header(30 * time.Second), true, 30 * time.Second, 0},
		"nothing that may pass":      {Retry{}, &Error{Class: ClassQuota, RetryAfter: time.Hour}, false, 0, 0},
	}
	for name, tt := range tests {
		delay, again := tt.retry.Delay(1, tt.err, func() float64 { return 0.5 })
		require.Equal(t, tt.again, again, name)
		if again {
			require.Equal(t, tt.wait, delay, name)
		}
		require.Equal(t, tt.long, tt.retry.TooLong(tt.err), name)
	}
	_, again := Retry{Asked: -1}.Delay(5, header(time.Hour), nil)
	require.False(t, again, "the tries are counted all the same")
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
