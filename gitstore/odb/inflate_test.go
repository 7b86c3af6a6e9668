package odb

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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

// samples are contents that deflate in different ways.
func samples() [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	skewed := make([]byte, 100_000) // some symbols are rare: long codes
	for i := range skewed {
		skewed[i] = byte(rng.ExpFloat64() * 12)
	}
	return [][]byte{
		nil, {'x'}, []byte("hello\n"), []byte(strings.Repeat("a", 70_000)),
		[]byte(strings.Repeat("some text that comes again and again; ", 3000)),
		noise, noise[:300], skewed, append(bytes.Clone(skewed[:20_000]), noise[:20_000]...),
	}
}

func TestInflateIsWhatWasDeflated(t *testing.T) {
	var in inflater
	for _, data := range samples() {
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 6, 9} {
			src := append(zlibbed(t, data, level), "what follows"...)
			dst := make([]byte, len(data))
			n, used, err := in.inflate(dst, src)
			require.NoError(t, err)
			require.Equal(t, len(data), n)
			require.True(t, bytes.Equal(data, dst))
			require.Equal(t, len(src)-len("what follows")-4, used)
			require.NoError(t, checkSum(dst, src, used))
		}
	}
}

func TestInflateRefusesOtherSizes(t *testing.T) {
	var in inflater
	for _, data := range samples()[1:] {
		for _, level := range []int{0, 6} {
			src := zlibbed(t, data, level)
			short := make([]byte, len(data)-1)
			n, _, err := in.inflate(short, src)
			require.ErrorIs(t, err, ErrObjectCorrupt)
			require.True(t, bytes.Equal(data[:n], short[:n]))
			_, _, err = in.inflate(make([]byte, len(data)+1), src)
			require.ErrorIs(t, err, ErrObjectCorrupt)
			for _, cut := range []int{0, 1, 2, len(src) / 2, len(src) - 6} {
				_, _, err = in.inflate(make([]byte, len(data)), src[:cut])
				require.ErrorIs(t, err, ErrObjectCorrupt)
			}
		}
	}
}

func TestCheckSum(t *testing.T) {
	src := zlibbed(t, []byte("hello\n"), 6)
	used := len(src) - 4
	require.NoError(t, checkSum([]byte("hello\n"), src, used))
	require.ErrorIs(t, checkSum([]byte("hallo\n"), src, used), ErrObjectCorrupt)
	require.ErrorIs(t, checkSum([]byte("hello\n"), src[:used+3], used), ErrObjectCorrupt)
}

func TestInflateProperty(t *testing.T) {
	var in inflater
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "part")
		data := bytes.Repeat(part, rapid.IntRange(0, 300).Draw(t, "times"))
		src := zlibbed(t, data, rapid.IntRange(-2, 9).Draw(t, "level"))
		dst := make([]byte, len(data))
		_, _, err := in.inflate(dst, src)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, dst))
	})
}

// FuzzInflate compares with the standard library: what that accepts we give,
// and we accept nothing else.
func FuzzInflate(f *testing.F) {
	for _, data := range samples()[:5] {
		f.Add(zlibbed(f, data, 6))
		f.Add(zlibbed(f, data, 0))
	}
	var in inflater
	f.Fuzz(func(t *testing.T, src []byte) {
		var want []byte
		r, err := zlib.NewReader(bytes.NewReader(src))
		if err == nil {
			want, err = io.ReadAll(io.LimitReader(r, 1<<20))
		}
		got := make([]byte, len(want))
		n, used, fault := in.inflate(got, src)
		if fault == nil {
			fault = checkSum(got, src, used)
		}
		if err == nil && len(want) < 1<<20 {
			require.NoError(t, fault)
			require.True(t, bytes.Equal(want, got))
			return
		}
		require.True(t, fault != nil || len(want) == 1<<20)
		require.True(t, bytes.Equal(want[:n], got[:n]))
	})
}
