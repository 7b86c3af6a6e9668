package provider

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryAfter(t *testing.T) {
	const noon = "Sat, 21 Nov 2026 12:00:00 GMT"
	for value, want := range map[string]time.Duration{
		"": 0, "12": 12 * time.Second, "0": 0, "0.25": 250 * time.Millisecond, "-3": 0, "nan": 0, "soon": 0,
		"inf": longestWait, "1e300": longestWait, "-inf": 0,
		"Sat, 21 Nov 2026 12:00:30 GMT": 30 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0, "Mon, 02 Jan 2226 03:04:35 GMT": longestWait,
	} {
		require.Equal(t, want, RetryAfter(http.Header{"Retry-After": {value}, "Date": {noon}}), value)
	}
	require.Equal(t, 1500*time.Millisecond, RetryAfter(http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}))
	require.Zero(t, RetryAfter(http.Header{"Retry-After": {noon}, "Date": {"whenever"}}), "by the own clock it is past")
	require.Zero(t, RetryAfter(nil))
}

func TestRetryAfterWords(t *testing.T) {
	for words, want := range map[string]time.Duration{
		"Rate limit reached for gpt-5.1. Please try again in 20s.":                    20 * time.Second,
		"Please try again in 812ms. Visit https://platform.openai.com to learn more.": 812 * time.Millisecond,
		"Please try again in 1m2.5s.":                                                 62500 * time.Millisecond,
		"please TRY AGAIN IN 1h0m3s":                                                  time.Hour + 3*time.Second,
		"Please retry after 13 seconds.":                                              13 * time.Second,
		"Please retry in 34.07s.":                                                     34070 * time.Millisecond,
		"Try again in 1 minute":                                                       time.Minute,
		"Try again in 250 milliseconds":                                               250 * time.Millisecond,
		"try again in 6 min":                                                          6 * time.Minute,
		"try again in 99999999999999999999h":                                          longestWait,
		"try again in 30h23h":                                                         53 * time.Hour,
		"":                                                                            0, "Limit 20s, used 10s.": 0, "Please try again in a while.": 0, "try again in 20 servers": 0, "try again in 5": 0, "try again in 0s": 0,
	} {
		require.Equal(t, want, retryAfterWords(words), words)
	}
}
