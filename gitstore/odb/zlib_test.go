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

const checkSumLen = 4

// zlibSamples are contents that deflate in different ways.
func zlibSamples() [][]byte {
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

func TestInflateWhatWasDeflated(t *testing.T) {
	var d zlibDecoder
	for _, data := range zlibSamples() {
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 6, 9} {
			src := append(zlibbed(t, data, level), "what follows"...)
			dst := make([]byte, len(data))
			n, used, err := d.inflate(dst, src)
			require.NoError(t, err)
			require.Equal(t, len(data), n)
			require.True(t, bytes.Equal(data, dst))
			require.Equal(t, len(src)-len("what follows")-checkSumLen, used)
		}
	}
}

func TestInflateOtherSizes(t *testing.T) {
	var d zlibDecoder
	for _, data := range zlibSamples()[1:] {
		for _, level := range []int{0, 6} {
			src := zlibbed(t, data, level)
			short := make([]byte, len(data)-1)
			n, _, err := d.inflate(short, src)
			require.ErrorIs(t, err, errZlibMore)
			require.Equal(t, len(short), n)
			require.True(t, bytes.Equal(data[:n], short))
			n, used, err := d.inflate(make([]byte, len(data)+1), src)
			require.ErrorIs(t, err, errZlibLess)
			require.Equal(t, len(data), n)
			require.Equal(t, len(src)-checkSumLen, used)
			for _, cut := range []int{0, 1, 2, 3, len(src) / 2, len(src) - checkSumLen - 2} {
				long := make([]byte, len(data)+1)
				n, _, err := d.inflate(long, src[:cut])
				require.ErrorIs(t, err, errZlibTruncated)
				require.True(t, bytes.Equal(data[:n], long[:n]))
			}
		}
	}
}

func TestInflateProperty(t *testing.T) {
	var d zlibDecoder
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "part")
		data := bytes.Repeat(part, rapid.IntRange(0, 300).Draw(t, "times"))
		src := zlibbed(t, data, rapid.IntRange(-2, 9).Draw(t, "level"))
		dst := make([]byte, len(data))
		_, used, err := d.inflate(dst, src)
		require.NoError(t, err)
		require.Equal(t, len(src)-checkSumLen, used)
		require.True(t, bytes.Equal(data, dst))
	})
}

// FuzzInflate compares with the standard library: both accept the same streams, with the same result.
func FuzzInflate(f *testing.F) {
	for _, data := range zlibSamples()[:5] {
		f.Add(zlibbed(f, data, 6))
		f.Add(zlibbed(f, data, 0))
	}
	var d zlibDecoder
	f.Fuzz(func(t *testing.T, src []byte) {
		const limit = 1 << 20
		var want []byte
		body := bytes.NewReader(nil)
		r, err := zlib.NewReader(bytes.NewReader(src)) // looks at the header only
		if err == nil {
			r.Close()
			body = bytes.NewReader(src[2:])
			want, err = io.ReadAll(io.LimitReader(flate.NewReader(body), limit))
		}
		got := make([]byte, len(want))
		room := make([]byte, len(want)+1)
		_, all, less := d.inflate(room, src)
		n, used, fault := d.inflate(got, src)
		require.True(t, bytes.Equal(want[:n], got[:n]))
		switch {
		case len(want) == limit:
		case err == nil:
			require.NoError(t, fault)
			require.Equal(t, len(src)-body.Len(), used)
			require.Equal(t, len(want), n)
			require.ErrorIs(t, less, errZlibLess)
			require.Equal(t, used, all)
			require.True(t, bytes.Equal(want, room[:n]))
		default:
			require.Error(t, fault)
			require.NotErrorIs(t, less, errZlibLess)
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	text := []byte(strings.Repeat(`{"seq":12,"kind":"chat_response","text":"func (s *Store) Load(ctx context.Context, at Head) error"}`, 1))
	rng := rand.New(rand.NewPCG(1, 2))
	for len(text) < 1700 {
		text = append(text, "func return err nil if := range string int byte store commit\n\t"[rng.IntN(50):][:4+rng.IntN(8)]...)
	}
	src := zlibbed(b, text, 6)
	dst := make([]byte, len(text))
	b.SetBytes(int64(len(text)))
	b.ReportMetric(float64(len(src)), "deflated")
	var d zlibDecoder
	for b.Loop() {
		if _, _, err := d.inflate(dst, src); err != nil {
			b.Fatal(err)
		}
	}
}
