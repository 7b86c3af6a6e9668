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
