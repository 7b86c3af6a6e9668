package provider

import (
	"net/http"
	"strconv"
	"time"
)

// longestWait keeps absurd numbers from overflowing.
const longestWait = 24 * time.Hour

// RetryAfter is how long a server asks to wait before it is asked again, at most
// a day, 0 where it does not say: in milliseconds, in seconds, or as a date. A
// date is measured by the server's own clock, where it tells that.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return waitOf(ms, time.Millisecond)
	}
	if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		return waitOf(s, time.Second)
	}
	until, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(0, until.Sub(now)), longestWait)
}

func waitOf(n float64, unit time.Duration) time.Duration {
	switch d := n * float64(unit); {
	case !(d > 0):
		return 0
	case d > float64(longestWait):
		return longestWait
	default:
		return time.Duration(d)
	}
}
