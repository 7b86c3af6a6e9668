package provider

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"jp/internal/lazy"
)

// longestWait keeps absurd numbers from overflowing.
const longestWait = 31 * 24 * time.Hour

// RetryAfter is how long a server asks to wait, at most a month, 0 if it says nothing. The header may be in
// milliseconds, in seconds, or a date. A date is measured by the server's own clock, if the response has it.
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

var (
	// wordedWait is how refusals word a wait: "try again in 1m2.5s", "in 812ms",
	// "retry after 20 seconds".
	wordedWait = lazy.Regexp(`(?i)\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?[hms])*` +
		`\d+(?:\.\d+)? ?(?:ms|milliseconds?|h|hours?|m|min|minutes?|s|sec|seconds?))\b`)
	waitPart = lazy.Regexp(`(\d+(?:\.\d+)?) ?(ms|mil|h|m|s)`)
)

var waitUnits = map[string]time.Duration{
	"ms": time.Millisecond, "mil": time.Millisecond, "h": time.Hour, "m": time.Minute, "s": time.Second,
}

// retryAfterWords is the wait that a refusal asks for in its text, at most a month, 0 if there is none. In
// the middle of a stream, the text is the only place for it.
func retryAfterWords(message string) time.Duration {
	said := wordedWait().FindStringSubmatch(message)
	if said == nil {
		return 0
	}
	var sum time.Duration
	for _, part := range waitPart().FindAllStringSubmatch(strings.ToLower(said[1]), -1) {
		if n, err := strconv.ParseFloat(part[1], 64); err == nil {
			sum = min(sum+waitOf(n, waitUnits[part[2]]), longestWait)
		}
	}
	return sum
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
