package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// steady are rounds of a side that takes about v.
func steady(v float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v * (1 + 0.001*float64(i))
	}
	return all
}

// compareRow is a row whose rival takes 1 in every round.
func compareRow(name, unit string, jp []float64) row {
	rival := make([]float64, len(jp))
	for i := range rival {
		rival[i] = 1
	}
	return row{On: "here", Name: name, RivalName: "git", Unit: unit, rounds: pairs{jp: jp, rival: rival}}
}

func TestCompared(t *testing.T) {
	tests := []struct {
		name, unit string
		old, new   []float64
		want       string
	}{
		{"slower", seconds, steady(1, 10), steady(1.5, 10), slower},
		{"faster", seconds, steady(1.5, 10), steady(1, 10), faster},
		{"the same", seconds, steady(1, 10), steady(1, 10), unchanged},
		{"few rounds say nothing", seconds, steady(1, 3), steady(2, 3), unchanged},
		{"times of one round say nothing", seconds, steady(1, 1), steady(2, 1), unchanged},
		{"larger", octets, steady(1, 1), steady(1.02, 1), larger},
		{"smaller", octets, steady(1, 1), steady(0.98, 1), smaller},
		{"about as large", octets, steady(1, 1), steady(1.005, 1), unchanged},
		{"peaks that differ", octets, steady(1, 5), steady(2, 5), larger},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, after := compareRow("r", tt.unit, tt.old), compareRow("r", tt.unit, tt.new)
			all := compared([]row{after}, map[string]pairs{before.benchmark(): before.rounds})
			require.Len(t, all, 1)
			require.Equal(t, tt.want, all[0].Verdict)
		})
	}
}

func TestComparedByRatioAndNotByTime(t *testing.T) {
	before := compareRow("r", seconds, steady(2, 10))
	after := compareRow("r", seconds, steady(2, 10))
	for i := range after.rounds.jp { // a machine that is half as fast
		after.rounds.jp[i] *= 2
		after.rounds.rival[i] *= 2
	}
	all := compared([]row{after}, map[string]pairs{before.benchmark(): before.rounds})
	require.Equal(t, unchanged, all[0].Verdict)
	require.InDelta(t, 0, all[0].change(), 1e-9)
}

func TestWhatWasNotSavedIsNotCompared(t *testing.T) {
	require.Empty(t, compared([]row{compareRow("new", seconds, steady(1, 5))}, map[string]pairs{"BenchmarkOld/on=here/vs=git": {}}))
}

func TestComparisonAsText(t *testing.T) {
	before, after := compareRow("load", seconds, steady(1, 4)), compareRow("load", seconds, steady(2, 4))
	var out strings.Builder
	require.NoError(t, renderComparison(&out, compared([]row{after}, map[string]pairs{before.benchmark(): before.rounds})))
	require.Equal(t, `
Beside the saved run: ratios, medians over the rounds
on    row   rival  old    new    change  p      verdict
here  load  git    1.00×  2.00×  +100 %  0.029  slower
slower: 1 rows; larger: 0 rows
`, out.String())
}
