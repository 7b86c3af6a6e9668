package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

func TestVerdict(t *testing.T) {
	tests := []struct {
		name                    string
		row                     row
		verdict, ratio, targets string
	}{
		{"reached", row{JP: 1, Rival: 2, Target: 0.6, Unit: seconds}, "ok", "0.50×", "≤ 0.6×"},
		{"just reached", row{JP: 3, Rival: 2, Target: 1.5, Unit: seconds}, "ok", "1.50×", "≤ 1.5×"},
		{"missed", row{JP: 5, Rival: 2, Target: 2, Unit: seconds}, "missed by 25 %", "2.50×", "≤ 2×"},
		{"missed by little is not missed by nothing", row{JP: 2.0001, Rival: 1, Target: 2, Unit: seconds}, "missed by 1 %", "2.00×", "≤ 2×"},
		{"no target", row{JP: 5, Rival: 2, Unit: octets}, "–", "2.50×", "–"},
		{"difference reached", row{JP: 0.015, Rival: 0.001, Target: 0.02, Difference: true, Unit: seconds}, "ok", "+14.0 ms", "≤ +20.0 ms"},
		{"difference missed", row{JP: 0.025, Rival: 0.001, Target: 0.02, Difference: true, Unit: seconds}, "missed by 4.00 ms", "+24.0 ms", "≤ +20.0 ms"},
		{"faster than the rival", row{JP: 0.001, Rival: 0.005, Target: 0.02, Difference: true, Unit: seconds}, "ok", "−4.00 ms", "≤ +20.0 ms"},
		{"alone reached", row{JP: 0.045, Rival: 0.040, Target: 0.05, Alone: true, Unit: seconds}, "ok", "1.12×", "≤ 50.0 ms"},
		{"alone missed", row{JP: 0.075, Rival: 0.060, Target: 0.05, Alone: true, Unit: seconds}, "missed by 25.0 ms", "1.25×", "≤ 50.0 ms"},
		{"nothing measured", row{Failed: "no disk", Target: 2}, "not measured", "–", "≤ 2×"},
		{"no ratio", row{JP: 1, Unit: seconds}, "not measured", "–", "–"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.row.judged()
			require.Equal(t, tt.verdict, r.Verdict)
			require.Equal(t, tt.ratio, r.compared())
			require.Equal(t, tt.targets, r.bound())
		})
	}
}

func TestQuantity(t *testing.T) {
	tests := []struct {
		v    float64
		unit string
		want string
	}{
		{12.34, seconds, "12.3 s"}, {1.234, seconds, "1234 ms"}, {0.0123, seconds, "12.3 ms"}, {0.00123, seconds, "1.23 ms"},
		{0.000123, seconds, "0.12 ms"}, {0.0000123, seconds, "12.3 µs"}, {0, seconds, "0.0 µs"},
		{887.6, octets, "888 B"}, {3 << 20, octets, "3.0 MiB"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, quantity(tt.v, tt.unit))
	}
}

func sampleReport() *report {
	return &report{
		Machine: machine{Git: "2.39.5", Go: "go1.26.0", Cores: 2, Load: "0.10"},
		Places:  []filesystem{{Name: "here", Type: "ext4", Journal: "no", Path: odb.PathStepwise}},
		Notes:   []string{"loop: skipped: only root can mount"},
		Rows: []row{
			row{On: "here", Name: "append", RivalName: "JSONL", Unit: seconds, JP: 0.003, Rival: 0.001, Target: 2}.judged(),
			row{On: "here", Name: "version", Failed: "jp does not build"}.judged(),
		},
	}
}

func TestReportAsText(t *testing.T) {
	var out strings.Builder
	require.NoError(t, sampleReport().print(&out, false))
	require.Equal(t, `git 2.39.5, go1.26.0, 2 cores, load 0.10
here: ext4, journal: no; jp writes by the stepwise path
loop: skipped: only root can mount

on    row      jp       rival          ratio  target  verdict
here  append   3.00 ms  1.00 ms JSONL  3.00×  ≤ 2×    missed by 50 %
here  version  –        –              –      –       not measured
not measured: version (here): jp does not build
`, out.String())
}

func TestReportAsJSON(t *testing.T) {
	var out strings.Builder
	require.NoError(t, sampleReport().print(&out, true))
	var back report
	require.NoError(t, json.Unmarshal([]byte(out.String()), &back))
	require.Equal(t, *sampleReport(), back)
}

func TestOnlyWhatWasNotMeasuredFails(t *testing.T) {
	r := sampleReport()
	require.EqualError(t, r.failures(), "version: jp does not build")
	r.Rows = r.Rows[:1]
	require.NoError(t, r.failures(), "a missed target is no failure")
}

func TestTheTableStaysNarrow(t *testing.T) {
	wide := row{
		On: "ext4", Name: strings.Repeat("n", 60), RivalName: strings.Repeat("r", 60), Unit: octets, JP: 512 << 20, Rival: 511 << 20, Target: 0.02,
	}.judged()
	long := row{On: "ext4", Name: "x", Unit: seconds, JP: 0.9, Rival: 0.8, Target: 0.05, Alone: true}.judged()
	var out strings.Builder
	require.NoError(t, renderTable(&out, []row{wide, long}))
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 120)
	}
	require.Contains(t, out.String(), "nnn…")
}

func TestClipped(t *testing.T) {
	require.Equal(t, "≤ 2×", clipped("≤ 2×", 4))
	require.Equal(t, "≤ …", clipped("≤ 2×", 3))
}

// lasting is one round of one operation.
func lasting(d time.Duration) samples { return samples{{d}} }

func TestRowsByPlace(t *testing.T) {
	ordered, stepwise := filesystem{Path: odb.PathOrdered}, filesystem{Path: odb.PathStepwise}
	all := timings{appendOne: lasting(4), appendFive: lasting(10), appendJSONL: lasting(2), appendGit: lasting(40), appendGitAll: lasting(80)}
	rows := appendRows(all, ordered)
	ratios := make([]float64, len(rows))
	for i, r := range rows {
		ratios[i] = r.judged().Ratio
	}
	require.InDeltaSlice(t, []float64{2, 2, 1, 1, 0.1, 0.1, 0.05, 0.05, 0.05}, ratios, 1e-9, "and nothing of rivals that were not measured")
	require.InDeltaSlice(t, []float64{1}, rows[2].rounds.ratios(), 1e-9, "a group counts by its share in each round, too")
	targets := func(p filesystem) []float64 {
		return []float64{appendRows(all, p)[0].Target, appendRows(all, p)[2].Target}
	}
	require.Equal(t, []float64{2, 0.6}, targets(ordered))
	require.Equal(t, []float64{4, 0}, targets(stepwise))
	require.Equal(t, "–", appendRows(all, stepwise)[2].judged().bound())
}

func TestTargetsAreOfTheLargestSize(t *testing.T) {
	all := timings{
		snapBefore: lasting(1), snapStatus: lasting(2), loadLoose: lasting(1), loadPacked: lasting(1),
		loadLogLoose: lasting(2), loadLogPacked: lasting(2), loadJSONL: lasting(1),
	}
	require.Zero(t, snapshotRows(1_000, all, snapBefore)[0].Target)
	require.Equal(t, 0.6, snapshotRows(12_000, all, snapBefore)[0].Target)
	require.Zero(t, loadRows(1_000, all)[0].Target)
	require.Equal(t, 0.6, loadRows(10_000, all)[0].Target)
	require.Equal(t, 0.95, loadRows(10_000, all)[1].Target)
	require.Zero(t, loadRows(10_000, all)[2].Target, "no target against JSONL")
}
