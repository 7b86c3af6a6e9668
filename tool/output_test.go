package tool_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/tool"
)

func TestCutLeavesShortContentAlone(t *testing.T) {
	for _, content := range []string{"", "a", "a\x00\xff\n", strings.Repeat("x", 500)} {
		got, whole := tool.Truncate([]byte(content), 500)
		require.Nil(t, whole)
		require.Equal(t, content, string(got))
	}
}

func TestCutKeepsBothEndsAtLines(t *testing.T) {
	content := strings.Repeat("0123456789\n", 1000)
	got, whole := tool.Truncate([]byte(content), 2000)
	sum := sha256.Sum256([]byte(content))
	require.Equal(t, int64(11000), whole.Bytes)
	require.Equal(t, hex.EncodeToString(sum[:]), whole.SHA256)
	parts := regexp.MustCompile(`\[jp left out (\d+) bytes here, and did not keep them\.\]\n`).FindStringSubmatchIndex(string(got))
	require.NotNil(t, parts)
	head, tail := string(got[:parts[0]]), string(got[parts[1]:])
	require.True(t, strings.HasPrefix(content, head))
	require.True(t, strings.HasSuffix(head, "9\n"))
	require.True(t, strings.HasPrefix(tail, "0"))
	require.True(t, strings.HasSuffix(content, tail))
	require.Equal(t, strconv.Itoa(len(content)-len(head)-len(tail)), string(got[parts[2]:parts[3]]))
	require.InDelta(t, 3*len(head), len(tail), 50)
	require.Greater(t, len(got), 1700)
}

// A gap names exactly the missing lines.
func TestGapNamesItsLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for i := range rapid.IntRange(1, 600).Draw(t, "lines") {
			fmt.Fprintf(&text, "%d%s\n", i+1, strings.Repeat("x", rapid.IntRange(0, 30).Draw(t, "width")))
		}
		content := strings.TrimSuffix(text.String(), rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end"))
		var gap tool.Gap
		limit := rapid.IntRange(1000, 6000).Draw(t, "limit")
		got := string(tool.Shorten([]byte(content), limit, func(g tool.Gap) string { gap = g; return "[gap]" }))
		require.LessOrEqual(t, len(got), max(limit, len(content)))
		if len(content) <= limit {
			require.Equal(t, content, got)
			return
		}
		head, tail, found := strings.Cut(got, "[gap]\n")
		require.True(t, found)
		lines := strings.SplitAfter(content, "\n")
		require.Equal(t, content, head+strings.Join(lines[gap.First-1:min(int(gap.Last), len(lines))], "")+tail)
		require.Equal(t, int64(len(content)-len(head)-len(tail)), gap.Bytes)
	})
}

// A gap that begins within a line says how many bytes of it are before the gap.
func TestGapWithinALine(t *testing.T) {
	x := strings.Repeat("x", 5000)
	for name, tt := range map[string]struct {
		content           string
		first, skip, last int64
	}{
		"one line":       {x, 1, 450, 1},
		"its newline":    {x + "\n", 1, 450, 1},
		"the second one": {"a\n" + x, 2, 448, 2},
		"two lines":      {x + "\n" + x, 1, 450, 1}, // the end has a part of the second one
	} {
		t.Run(name, func(t *testing.T) {
			var gap tool.Gap
			got := string(tool.Shorten([]byte(tt.content), 2000, func(g tool.Gap) string { gap = g; return "[gap]" }))
			require.Equal(t, []int64{tt.first, tt.skip, tt.last}, []int64{gap.First, gap.Skip, gap.Last})
			head, _, _ := strings.Cut(got, "\n[gap]")
			before := strings.Join(strings.SplitAfter(tt.content, "\n")[:gap.First-1], "")
			require.Len(t, head, len(before)+int(gap.Skip))
		})
	}
}

func TestCutNeverSplitsARune(t *testing.T) {
	for limit := 300; limit < 308; limit++ {
		got, whole := tool.Truncate([]byte(strings.Repeat("🙂", 100)), limit)
		require.NotNil(t, whole)
		require.True(t, utf8.Valid(got), "%d", limit)
		require.LessOrEqual(t, len(got), limit)
	}
}

func TestCaptureIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "content")
		limit := rapid.IntRange(1, 1500).Draw(t, "limit")
		want, wantWhole := tool.Truncate(content, limit)

		c := tool.NewCapture(limit)
		for rest := content; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "part")
			written, err := c.Write(rest[:n])
			require.NoError(t, err)
			require.Equal(t, n, written)
			rest = rest[n:]
		}
		got, gotWhole := c.Content()
		require.True(t, bytes.Equal(want, got))
		require.Equal(t, wantWhole, gotWhole)
		require.Equal(t, int64(len(content)), c.Bytes())
	})
}

func TestCaptureCountsLines(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\nb": 2, "a\n\nb\n": 3} {
		c := tool.NewCapture(1)
		_, _ = io.WriteString(c, text)
		require.Equal(t, want, c.Lines(), "%q", text)
	}
}

// repeat is a reader of the same block for ever.
type repeat struct{ block []byte }

func (r repeat) Read(p []byte) (int, error) { return copy(p, r.block), nil }

func TestCaptureStaysSmall(t *testing.T) {
	const size = 256 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := tool.NewCapture(tool.Limit)
	_, err := io.CopyBuffer(struct{ io.Writer }{c}, io.LimitReader(repeat{bytes.Repeat([]byte("y\n"), 32<<10)}, size), make([]byte, 64<<10))
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	content, whole := c.Content()
	require.Equal(t, int64(size), whole.Bytes)
	require.Equal(t, int64(size/2), c.Lines())
	require.LessOrEqual(t, len(content), tool.Limit)
	require.Greater(t, len(content), tool.Limit*9/10)
}
