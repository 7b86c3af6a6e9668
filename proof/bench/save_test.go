package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// savedReport is a report with a row of times and one of sizes.
func savedReport() *report {
	return &report{
		Machine: machine{Git: "2.39.5", Go: "go1.26.0", Cores: 2},
		Places:  []filesystem{{Name: "here", Type: "ext4", Journal: "no"}},
		Rows: []row{
			{On: "here", Name: "append 1 event, p50", RivalName: "git commit/ref", Unit: seconds, rounds: pairs{jp: []float64{0.0012, 0.0015}, rival: []float64{0.002, 0.003}}},
			{On: "here", Name: "packed", RivalName: "JSONL", Unit: octets, rounds: pairs{jp: []float64{820}, rival: []float64{1334.5}}},
			{On: "here", Name: "failed", Failed: "no disk"},
		},
	}
}

func TestSavedAsBenchmarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.txt")
	require.NoError(t, savedReport().save(path, "2026-11-22"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `pkg: jp/proof/bench
date: 2026-11-22
machine: git 2.39.5, go1.26.0, 2 cores
place-here: ext4, journal: no
BenchmarkAppend_1_event,_p50/on=here/vs=git_commit|ref/side=jp 1 1200000.0 ns/op
BenchmarkAppend_1_event,_p50/on=here/vs=git_commit|ref/side=jp 1 1500000.0 ns/op
BenchmarkAppend_1_event,_p50/on=here/vs=git_commit|ref/side=rival 1 2000000.0 ns/op
BenchmarkAppend_1_event,_p50/on=here/vs=git_commit|ref/side=rival 1 3000000.0 ns/op
BenchmarkPacked/on=here/vs=JSONL/side=jp 1 820.0 B/op
BenchmarkPacked/on=here/vs=JSONL/side=rival 1 1334.5 B/op
`, string(text))

	back, err := readBaseline(path)
	require.NoError(t, err)
	require.Len(t, back, 2)
	require.InDeltaSlice(t, savedReport().Rows[0].rounds.ratios(), back[savedReport().Rows[0].benchmark()].ratios(), 1e-9)
}

func TestUnreadableBaselines(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "no measurements",
		"pkg: x\nPASS\n":                  "no measurements",
		"BenchmarkA/side=jp 1\n":          "line 1",
		"\nBenchmarkA 1 2 ns/op\n":        "no side of a row",
		"BenchmarkA/side=us 1 2 ns/op\n":  "no side of a row",
		"BenchmarkA/side=jp 1 fast ns/op": "invalid syntax",
	} {
		_, err := readSaved(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err := readBaseline(filepath.Join(t.TempDir(), "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
