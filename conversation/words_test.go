package conversation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestTokens(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 544: "544", 999: "999", 1000: "1.0k", 8912: "8.9k", 999_949: "999.9k", 999_950: "1.0M", 999_999: "1.0M", 1_234_567: "1.2M",
	} {
		require.Equal(t, want, Tokens(n), n)
	}
}

func TestDollars(t *testing.T) {
	for in, want := range map[string]string{
		"0": "$0.00", "0.0412": "$0.04", "0.001": "<$0.01", "0.005": "$0.01", "12": "$12.00", "": "$?", "free": "$?", "1e9": "$?",
	} {
		require.Equal(t, want, Dollars(in), in)
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 ms", 412 * time.Millisecond: "412 ms", 41 * time.Second: "41 s", 119 * time.Second: "119 s",
		2 * time.Minute: "2 min", 90 * time.Minute: "90 min", 2 * time.Hour: "2 h", 47 * time.Hour: "47 h", 72 * time.Hour: "3 d",
	} {
		require.Equal(t, want, Ago(d), d)
	}
}

func TestCount(t *testing.T) {
	require.Equal(t, "1 line", Count(1, "line"))
	require.Equal(t, "0 lines", Count(0, "line"))
	require.Equal(t, "1 match", Count(1, "match"))
	require.Equal(t, "3 matches", Count(3, "match"))
	require.Equal(t, "binary", PlusMinus(-1, 0))
}
