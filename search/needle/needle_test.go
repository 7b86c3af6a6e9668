package needle_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/search/needle"
)

func TestIsBytesIndex(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		data := []byte(rapid.StringMatching(`[abAB k\n]{0,40}`).Draw(r, "data"))
		text := rapid.StringMatching(`[abAB k]{1,4}`).Draw(r, "text")
		require.Equal(r, bytes.Index(data, []byte(text)), needle.New(text, false).Index(data))
		require.Equal(r, bytes.Index(bytes.ToLower(data), bytes.ToLower([]byte(text))), needle.New(text, true).Index(data))
	})
}

func TestFromFindsAll(t *testing.T) {
	f := needle.New("ab", true).In([]byte("xAB ab aB b ABab"))
	var got []int
	for at := f.From(0); at >= 0; at = f.From(at + 1) {
		got = append(got, at)
	}
	require.Equal(t, []int{1, 4, 7, 12, 14}, got)
}
