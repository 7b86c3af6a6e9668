package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRank(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(100 - i) // any order
	}
	tests := []struct {
		name   string
		values []int64
		q      float64
		want   int64
	}{
		{"none", nil, 0.5, 0},
		{"one", []int64{7}, 0.99, 7},
		{"the lower of two", []int64{9, 1}, 0.5, 1},
		{"p50", hundred, 0.5, 50},
		{"p99", hundred, 0.99, 99},
		{"least", hundred, 0, 1},
		{"greatest", hundred, 1, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, rank(tt.values, tt.q)) })
	}
}

func TestRankIsAValueThatEnoughDoNotExceed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64(), 1, 40).Draw(t, "values")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		kept := slices.Clone(values)
		got := rank(values, q)
		require.Equal(t, kept, values, "they stay in their order")
		require.Contains(t, values, got)
		within := 0
		for _, v := range values {
			if v <= got {
				within++
			}
		}
		require.GreaterOrEqual(t, float64(within), q*float64(len(values)))
	})
}

func TestTimings(t *testing.T) {
	var took timings
	took.add(3)
	took.since(time.Now().Add(-time.Hour))
	all := took.all()
	require.Len(t, all, 2)
	require.GreaterOrEqual(t, all[1], time.Hour)
	all[0] = 9
	require.EqualValues(t, 3, took.all()[0], "what was given is a copy")
}
