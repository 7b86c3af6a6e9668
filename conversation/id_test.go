package conversation_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

func TestNewID(t *testing.T) {
	now := time.Date(2025, 7, 19, 4, 0, 0, 150_000_000, time.FixedZone("east", 7200))
	id, err := NewID(now, bytes.NewReader([]byte{20, 3 + 36, 15, 9}))
	require.NoError(t, err)
	require.Equal(t, ID("jp-c17528904001-k3f9"), id)
	require.Equal(t, now.Truncate(100*time.Millisecond).UTC(), id.Created())
	require.Equal(t, "k3f9", id.Short())
	_, err = NewID(now, strings.NewReader("abc"))
	require.Error(t, err, "less random than it takes")
}

func TestNewIDIsAnID(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		random := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(r, "random")
		ms := rapid.Int64Range(100_000_000_000, 99_999_999_999_999).Draw(r, "ms")
		id, err := NewID(time.UnixMilli(ms), bytes.NewReader(random))
		require.NoError(r, err)
		parsed, err := ParseID(string(id))
		require.NoError(r, err)
		require.Equal(r, id, parsed)
		require.Equal(r, ms/100*100, id.Created().UnixMilli())
	})
}

func TestParseID(t *testing.T) {
	for _, good := range []string{"jp-c17528832001-k3f9", "jp-c17528832001", "jp-c1752883200", "jp-c175288320012-0000"} {
		id, err := ParseID(good)
		require.NoError(t, err)
		require.Equal(t, good, string(id))
	}
	bad := []string{
		"", "jp-c", "k3f9", "jp-c17528832001-K3F9", "jp-c17528832001-k3f", "jp-c17528832001-k3f99", "jp-c123456789", "jp-c1234567890123",
		"jp-c17528832001-", "jp-c17528832001-k3-f", "jp-c17528832001-k3f9\n", " jp-c17528832001", "jp-c17528832001/..", "../jp-c17528832001", "jp-c17528832001-k3f9.lock", "jp-c1752883200１",
	}
	for _, text := range bad {
		_, err := ParseID(text)
		require.ErrorIs(t, err, ErrBadID, text)
	}
}

func TestIDWithoutSuffix(t *testing.T) {
	require.Equal(t, "2001", ID("jp-c17528832001").Short())
	require.Equal(t, "x", ID("x").Short())
	require.True(t, ID("nonsense").Created().IsZero())
}
