package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	var found table
	found.count("conversations", "%d", 64)
	found.times("append", []time.Duration{time.Millisecond, 40 * time.Millisecond}, 50*time.Millisecond)
	found.times("slow append", []time.Duration{time.Second}, 50*time.Millisecond)
	found.times("nothing", nil, time.Second)
	found.sizes("memory", []int64{20_000_000, 41_500_000}, 40_000_000)
	found.ratio("list", []time.Duration{30_000}, []time.Duration{10_000}, 2)
	found.ratio("list of nothing", nil, nil, 2)
	found.paired("status", []time.Duration{11_000, 30_000, 21_000}, []time.Duration{10_000, 40_000, 20_000}, 1.05)
	found.paired("status of nothing", nil, nil, 2)
	require.NoError(t, found.failure(), "a missed target is no failure")
	var out strings.Builder
	found.print(&out, nil)
	require.Equal(t, `what               found                             target         verdict
conversations      64                                –              –
append             p50 1ms  p99 40ms  max 40ms  (2)  p99 ≤ 50ms     ok
slow append        p50 1s  p99 1s  max 1s  (1)       p99 ≤ 50ms     missed
nothing            not measured                      –              –
memory             p50 20.0 MB  max 41.5 MB  (2)     max ≤ 40.0 MB  missed
list               30µs / 10µs = 3.00×               ≤ 2×           missed
list of nothing    not measured                      –              –
status             20µs / 20µs, in turns 1.05×       ≤ 1.05×        ok
status of nothing  not measured                      –              –
violations         0                                 0              ok
`, out.String())
}

func TestViolations(t *testing.T) {
	var found table
	for i := range shown + 3 {
		found.violation("event %d is lost", i)
	}
	require.ErrorIs(t, found.failure(), errViolation)
	var out strings.Builder
	found.print(&out, nil)
	require.Regexp(t, `violations +23 +0 +missed\nviolation: event 0 is lost\n`, out.String())
	require.Contains(t, out.String(), "event 19 is lost\nviolation: and 3 more\n")
}

// A run that ended early has tried less than its rows name.
func TestATableOfARunThatDidNotEnd(t *testing.T) {
	var found table
	found.count("conversations", "%d", 64)
	var out strings.Builder
	found.print(&out, errTooLong)
	require.Regexp(t, `violations +0 +0 +not all was tried\nNOT ENDED: it takes longer than it may\n$`, out.String())
	found.violation("event 1 is lost")
	out.Reset()
	found.print(&out, errTooLong)
	require.Regexp(t, `violations +1 +0 +missed\nNOT ENDED: .*\nviolation: event 1 is lost\n$`, out.String())
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		12_345_678_901: "12.3s", 1_234_567_890: "1.235s", 12_345_678: "12ms", 1_234_567: "1.23ms", 0: "0s",
	} {
		require.Equal(t, want, short(d))
	}
}
