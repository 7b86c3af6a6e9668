package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestQuantile(t *testing.T) {
	hundred := make(samples, 101)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i) // any order
	}
	tests := []struct {
		name string
		s    samples
		q    float64
		want time.Duration
	}{
		{"no samples", nil, 0.5, 0},
		{"one", samples{7}, 0.99, 7},
		{"odd count", samples{9, 1, 5}, 0.5, 5},
		{"even count lies between", samples{10, 20, 40, 30}, 0.5, 25},
		{"p99", hundred, 0.99, 99},
		{"least", hundred, 0, 0},
		{"greatest", hundred, 1, 100},
		{"by proportion", samples{0, 100}, 0.25, 25},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.s.quantile(tt.q)) })
	}
}

func TestQuantileLeavesSamplesAlone(t *testing.T) {
	s := samples{3, 1, 2}
	s.median()
	require.Equal(t, samples{3, 1, 2}, s)
}

func TestQuantileGrowsWithItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := samples(rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, 1e12), func(n int64) time.Duration { return time.Duration(n) }), 1, 50).Draw(t, "samples"))
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		require.LessOrEqual(t, s.quantile(min(a, b)), s.quantile(max(a, b)))
		require.LessOrEqual(t, s.quantile(0), s.quantile(a))
		require.LessOrEqual(t, s.quantile(a), s.quantile(1))
	})
}

func TestRatio(t *testing.T) {
	r, ok := ratio(3, 2)
	require.True(t, ok)
	require.Equal(t, 1.5, r)
	for _, pair := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
		_, ok := ratio(pair[0], pair[1])
		require.False(t, ok, pair)
	}
}
