package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestUTestOfKnownSamples(t *testing.T) {
	tests := []struct {
		name string
		a, b []float64
		want float64
	}{
		{"one order of 70, two-sided", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{"one order of 252", []float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5}, 2.0 / 252},
		{"three against three are too few", []float64{1, 2, 3}, []float64{4, 5, 6}, 2.0 / 20},
		{"one of two orders", []float64{1}, []float64{2}, 1},
		// U is 1: the orders aabb and abab of 6, twice.
		{"one pair the other way round", []float64{1, 3}, []float64{2, 4}, 4.0 / 6},
		{"alternating", []float64{1, 4, 5}, []float64{2, 3, 6}, 1},
		{"nothing to compare", nil, []float64{1}, 1},
		{"all equal", []float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		// With a tie, too, each order of the 20 counts: four have a U of at most 0.5 or at least 8.5.
		{"ties", []float64{1, 1, 2}, []float64{2, 3, 4}, 4.0 / 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.InDelta(t, tt.want, mannWhitney(tt.a, tt.b), 1e-4)
			require.InDelta(t, tt.want, mannWhitney(tt.b, tt.a), 1e-4, "either way round")
		})
	}
}

func TestUTestOfManyIsNearTheExactOne(t *testing.T) {
	var a, b []float64
	for i := range 28 {
		a, b = append(a, float64(i)), append(b, float64(i)+7.5)
	}
	exact := mannWhitney(a, b)
	require.Less(t, exact, significant)
	b[0], b[1] = b[0]+0.25, b[0]+0.25 // two equal values: the normal distribution
	require.InDelta(t, exact, mannWhitney(a, b), 0.003)
}

func TestUTestIsAProbability(t *testing.T) {
	values := rapid.SliceOfN(rapid.Float64Range(0, 5), 0, 35)
	rapid.Check(t, func(t *rapid.T) {
		p := mannWhitney(values.Draw(t, "a"), values.Draw(t, "b"))
		require.True(t, p >= 0 && p <= 1, p)
	})
}
