package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/usage"
)

// A terminal that is narrower than the table gets each key on a line of its own.
func TestUsageTableFitsTheTerminal(t *testing.T) {
	sums := []usage.Sum{{Key: "2026-11-27", Calls: 12, Input: 74665, Output: 121}, {Key: "total", Calls: 1, Input: 7, Output: 1}}
	for width, want := range map[int]string{
		0:  "day          calls   in      cached   out   cost\n2026-11-27   12      74665   0 %      121   unknown\ntotal        1       7       0 %      1     unknown\n",
		51: "day          calls   in      cached   out   cost\n2026-11-27   12      74665   0 %      121   unknown\ntotal        1       7       0 %      1     unknown\n",
		48: "day\n  calls   in      cached   out   cost\n2026-11-27\n  12      74665   0 %      121   unknown\ntotal\n  1       7       0 %      1     unknown\n",
	} {
		require.Equal(t, want, usageTable("day", sums, width), width)
	}
}
