package tool_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/tool"
)

func TestCutLeavesShortContentAlone(t *testing.T) {
	for _, content := range []string{"", "a", "a\x00\xff\n", strings.Repeat("x", 500)} {
		got, whole := tool.Cut([]byte(content), 500)
		require.Nil(t, whole)
		require.Equal(t, content, string(got))
	}
}

func TestCutEndsAtALine(t *testing.T) {
	content := strings.Repeat("0123456789\n", 100)
	got, whole := tool.Cut([]byte(content), 500)
	sum := sha256.Sum256([]byte(content))
	require.Equal(t, int64(1100), whole.Bytes)
	require.Equal(t, hex.EncodeToString(sum[:]), whole.SHA256)
	head, note, found := strings.Cut(string(got), "[output cut here: it has 1100 bytes, SHA-256 "+whole.SHA256)
	require.True(t, found)
	require.Equal(t, "]\n", note)
	require.True(t, strings.HasPrefix(content, head))
	require.True(t, strings.HasSuffix(head, "9\n"))
	require.Greater(t, len(head), 300)
	again, whole := tool.Cut(got, 500)
	require.Nil(t, whole, "what was cut is not cut again")
	require.Equal(t, got, again)
}

// The note says the same of the whole, however often its beginning is cut.
func TestCutAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := bytes.Repeat([]byte("a line of the output\n"), rapid.IntRange(1, 200).Draw(t, "lines"))
		limits := rapid.SliceOfN(rapid.IntRange(300, 4000), 2, 4).Draw(t, "limits")
		behind := rapid.SampledFrom([]string{"", "exit 1\n"}).Draw(t, "behind")
		got, whole := tool.Cut(content, limits[0])
		if whole != nil {
			got = append(got, behind...)
		}
		smallest := limits[0] + len(behind)
		for _, limit := range limits[1:] {
			smallest = min(smallest, limit)
			got, whole = tool.CutAgain(got, limit, whole)
		}
		if whole == nil {
			require.Equal(t, content, got)
			return
		}
		sum := sha256.Sum256(content)
		require.Equal(t, int64(len(content)), whole.Bytes)
		require.Equal(t, hex.EncodeToString(sum[:]), whole.SHA256)
		require.LessOrEqual(t, len(got), smallest)
		head, note, found := strings.Cut(string(got), "[output cut here: it has ")
		require.True(t, found)
		require.True(t, strings.HasPrefix(string(content), head))
		require.NotContains(t, note, "[output cut here")
		require.Contains(t, note, whole.SHA256)
	})
}

func TestCutNeverSplitsARune(t *testing.T) {
	for limit := 200; limit < 208; limit++ {
		got, whole := tool.Cut([]byte(strings.Repeat("🙂", 100)), limit)
		require.NotNil(t, whole)
		require.True(t, utf8.Valid(got), "%d", limit)
		require.LessOrEqual(t, len(got), limit)
	}
}

func TestCaptureIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "content")
		limit := rapid.IntRange(1, 1500).Draw(t, "limit")
		want, wantWhole := tool.Cut(content, limit)

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
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
	content, whole := c.Content()
	require.Equal(t, int64(size), whole.Bytes)
	require.Equal(t, int64(size/2), c.Lines())
	require.LessOrEqual(t, len(content), tool.Limit)
	require.Greater(t, len(content), tool.Limit*9/10)
}
