package odb

import (
	"bytes"
	"compress/zlib"
	"testing"

	"github.com/stretchr/testify/require"
)

func zlibbed(t require.TestingT, data []byte, level int) []byte {
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, level)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestWhatCannotBeInflatedIsDamaged(t *testing.T) {
	var in inflater
	src := zlibbed(t, []byte("hello\n"), 6)
	for size, src := range map[int][]byte{6: src[:4], 5: src, 7: src, 0: nil, 1: []byte("zzzzzz")} {
		_, _, err := in.inflate(make([]byte, size), src)
		require.ErrorIs(t, err, ErrObjectCorrupt)
	}
}

func TestCheckSum(t *testing.T) {
	src := zlibbed(t, []byte("hello\n"), 6)
	used := len(src) - 4
	require.NoError(t, checkSum([]byte("hello\n"), src, used))
	require.ErrorIs(t, checkSum([]byte("hallo\n"), src, used), ErrObjectCorrupt)
	require.ErrorIs(t, checkSum([]byte("hello\n"), src[:used+3], used), ErrObjectCorrupt)
}
