package turnloop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The line of a long thought moves on: its end is told, and its beginning stays the same for a while. A tool's line is
// told from its beginning.
func TestLastLine(t *testing.T) {
	all := newActivities(nil, func(text string) string { return text })
	var text strings.Builder
	begins := map[string]bool{}
	for n := range 2000 {
		fmt.Fprintf(&text, "w%d ", n)
		line := all.lastLine(text.String(), true)
		require.True(t, strings.HasSuffix(line, fmt.Sprintf("w%d", n)), line)
		require.LessOrEqual(t, len([]rune(line)), tailColumns)
		begins[strings.Fields(line)[0]] = true
	}
	require.Less(t, len(begins), text.Len()/(tailColumns/4)+2)
	line := all.lastLine(text.String(), false)
	require.True(t, strings.HasPrefix(line, "w0 w1 "), line)
	require.True(t, strings.HasSuffix(line, "…"), line)
	line = all.lastLine(strings.Repeat("漢", 1000)+" ", true)
	require.True(t, strings.HasPrefix(line, "…漢"), line)
	require.True(t, strings.HasSuffix(line, "漢"), line)
	for _, short := range []string{"", "x ", "a word and "} {
		require.Equal(t, strings.TrimSpace(short), all.lastLine(short, true))
	}
}
