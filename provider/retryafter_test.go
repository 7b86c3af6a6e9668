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
		"inf": 24 * time.Hour, "1e300": 24 * time.Hour, "-inf": 0,
		"Sat, 21 Nov 2026 12:00:30 GMT": 30 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0, "Mon, 02 Jan 2226 03:04:35 GMT": 24 * time.Hour,
	} {
		require.Equal(t, want, RetryAfter(http.Header{"Retry-After": {value}, "Date": {noon}}), value)
	}
	require.Equal(t, 1500*time.Millisecond, RetryAfter(http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}))
	require.Zero(t, RetryAfter(http.Header{"Retry-After": {noon}, "Date": {"whenever"}}), "by the own clock it is past")
	require.Zero(t, RetryAfter(nil))
}
