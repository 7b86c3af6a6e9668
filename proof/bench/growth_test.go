package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestExponentOfAPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Float64Range(-1, 3).Draw(t, "k")
		c := rapid.Float64Range(1e-6, 1e6).Draw(t, "c")
		n := []float64{100, 1_000, 10_000, 100_000}[:rapid.IntRange(2, 4).Draw(t, "sizes")]
		var v []float64
		for _, x := range n {
			v = append(v, c*math.Pow(x, k))
		}
		require.InDelta(t, k, exponent(n, v), 1e-9)
	})
}

func TestExponentBySquares(t *testing.T) {
	// The logarithms to base ten are 0, 1, 1 at 0, 1, 2: the line that is nearest rises by 1/2.
	require.InDelta(t, 0.5, exponent([]float64{1, 10, 100}, []float64{1, 10, 10}), 1e-9)
	require.Zero(t, exponent([]float64{100}, []float64{3}))
	require.Zero(t, exponent(nil, nil))
}

// sizeRow is a row of one size of loading.
func sizeRow(n int, jp, rival float64) row {
	r := row{On: "here", Name: "load", RivalName: "git log", JP: jp, Rival: rival, rounds: pairs{jp: []float64{9 * jp, jp}, rival: []float64{rival, 9 * rival}}}
	return r.grows(workLoadLoose, n)
}

func TestGrowthOfRows(t *testing.T) {
	failed := sizeRow(10, 1, 1)
	failed.Failed = "no disk"
	elsewhere := sizeRow(100, 1, 1)
	elsewhere.On = "xfs"
	all := growthOf([]row{sizeRow(1_000, 10, 10), sizeRow(100, 1, 10), sizeRow(100, 99, 99), failed, elsewhere, {Name: "alone"}})
	require.Len(t, all, 1, "one size is no growth")
	require.Equal(t, []int{100, 1_000}, all[0].Sizes, "by size, and of one size the first")
	require.InDelta(t, 1, all[0].JP, 1e-9, "of the fastest rounds")
	require.InDelta(t, 0, all[0].Rival, 1e-9)
	require.Equal(t, "ok", all[0].Verdict)

	all = growthOf([]row{sizeRow(100, 1, 1), sizeRow(1_000, 100, 10)})
	require.Equal(t, "missed by 1.00", all[0].Verdict)
}

func TestEveryGrowthIsExpected(t *testing.T) {
	for work, k := range expected {
		require.NotEmpty(t, work)
		require.Contains(t, []float64{0, 1}, k)
	}
	require.Contains(t, expected, workAppend)
}

func TestGrowthAsText(t *testing.T) {
	var out strings.Builder
	require.NoError(t, renderGrowth(&out, growthOf([]row{sizeRow(100, 1, 1), sizeRow(10_000, 100, 10)})))
	require.Equal(t, `
Growth with n: time or memory ~ n^k
on    work, n              sizes         k of jp  k of the rival  expected  verdict
here  load, events, loose  100 … 10,000  1.00     0.50 git log    ≤ 1.15    ok
`, out.String())
}
