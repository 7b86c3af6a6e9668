package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 101)
	for i := range hundred {
		hundred[i] = time.Duration(100-i) * time.Second // any order
	}
	const s = time.Second
	tests := []struct {
		name string
		took []time.Duration
		q    float64
		want float64
	}{
		{"nothing", nil, 0.5, 0},
		{"one", []time.Duration{7 * s}, 0.99, 7},
		{"odd count", []time.Duration{9 * s, 1 * s, 5 * s}, 0.5, 5},
		{"even count lies between", []time.Duration{10 * s, 20 * s, 40 * s, 30 * s}, 0.5, 25},
		{"p99", hundred, 0.99, 99},
		{"least", hundred, 0, 0},
		{"greatest", hundred, 1, 100},
		{"by proportion", []time.Duration{0, 100 * s}, 0.25, 25},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.InDelta(t, tt.want, quantile(tt.took, tt.q), 1e-9) })
	}
}

func TestQuantileLeavesDurationsAlone(t *testing.T) {
	took := []time.Duration{3, 1, 2}
	quantile(took, 0.5)
	require.Equal(t, []time.Duration{3, 1, 2}, took)
}

func TestQuantileGrowsWithItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		took := rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, 1e12), func(n int64) time.Duration { return time.Duration(n) }), 1, 50).Draw(t, "took")
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		require.LessOrEqual(t, quantile(took, min(a, b)), quantile(took, max(a, b)))
		require.LessOrEqual(t, quantile(took, 0), quantile(took, a))
		require.LessOrEqual(t, quantile(took, a), quantile(took, 1))
	})
}

func TestSamplesAreTakenTogetherAndByRound(t *testing.T) {
	s := samples{{1 * time.Second, 2 * time.Second}, {6 * time.Second}}
	require.Equal(t, 2.0, s.median(), "of all three")
	require.Equal(t, []float64{1.5, 6}, s.byRound(0.5))
}

func TestMiddle(t *testing.T) {
	require.Zero(t, middle(nil))
	require.Equal(t, 2.0, middle([]float64{9, 1, 2}))
	require.Equal(t, 1.5, middle([]float64{9, 1, 2, 0}))
}

func TestPairsByRound(t *testing.T) {
	p := pairs{jp: []float64{1, 4, 3}, rival: []float64{2, 0, 1, 5}}
	require.Equal(t, []float64{0.5, 3}, p.ratios(), "without a rival there is no ratio")
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
