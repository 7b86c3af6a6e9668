package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/gitenv"
)

// testBench measures as little as can be.
func testBench(t *testing.T) *bench {
	t.Helper()
	gitenv.Isolate(t)
	return &bench{
		effort: effort{shortOps: 1, slowOps: 1, processes: 1}, scratch: t.TempDir(), corpus: corpus(t),
		environ: os.Environ(), log: io.Discard, rng: seeded(), kept: map[string]*history{},
	}
}

// TestTasks runs what is short, to see that both sides still work.
func TestTasks(t *testing.T) {
	b := testBench(t)
	r := &report{}
	small := []task{
		{"append", true, measureAppend}, {"fork", true, forkOf(20)}, {"load", false, loadOf(20)},
		{"list", false, listOf(5)}, {"snapshot", false, snapshotOf(120)},
	}
	require.NoError(t, b.measureOn(t.Context(), r, "here", b.scratch, small))
	require.NoError(t, r.failures())
	require.Len(t, r.Places, 1)
	require.NotEmpty(t, r.Places[0].Path)
	require.Len(t, r.Rows, 7+1+4+1+4)
	for _, row := range r.Rows {
		require.Positive(t, row.Ratio, row.Name)
		require.Equal(t, "here", row.On)
	}
}

func TestHistorySizes(t *testing.T) {
	b := testBench(t)
	h, err := b.history(t.Context(), 100, 1)
	require.NoError(t, err)
	require.Greater(t, h.looseBytes, int64(100*1024), "a block or more for each event")
	require.Less(t, h.packBytes, h.looseBytes)
	require.Greater(t, h.packBytes, int64(100*100))
	again, err := b.history(t.Context(), 100, 1)
	require.NoError(t, err)
	require.Same(t, h, again, "made once")

	loose, err := git(t.Context(), h.packed.TopLevel, "count-objects")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(loose, "0 objects"), loose)
}

func TestSumOfFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), make([]byte, 10), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "b"), make([]byte, 5), 0o600))
	n, err := lengths(dir)
	require.NoError(t, err)
	require.Equal(t, int64(15), n, "folders have no length")
	_, err = blocks(filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAFailedTaskIsARow(t *testing.T) {
	b := testBench(t)
	rows := b.attempt(t.Context(), task{name: "load", run: loadOf(0)}, place{Name: "here"})
	require.Len(t, rows, 1)
	require.Contains(t, rows[0].Verdict, "not measured")
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-quick", "-rows", "^load", "-dir", "/x"}, io.Discard)
	require.NoError(t, err)
	require.True(t, o.quick)
	require.Equal(t, "/x", o.dir)
	for _, bad := range [][]string{{"-rows", "("}, {"more"}, {"-unknown"}} {
		_, err := parseOptions(bad, io.Discard)
		require.Error(t, err, bad)
	}
}

func TestWantedTasks(t *testing.T) {
	named := func(o options) (names []string) {
		b := &bench{options: o}
		for _, task := range tasks {
			if b.wants(task) {
				names = append(names, task.name)
			}
		}
		return names
	}
	require.Equal(t, []string{"load 1k", "load 10k"}, named(options{rows: regexp.MustCompile("^load")}))
	require.Equal(t, []string{"list 100", "list 1k"}, named(options{rows: regexp.MustCompile("list")}))
	require.Contains(t, named(options{full: true}), "list 10k")
	require.Len(t, named(options{}), len(tasks)-3)
}

func TestPeak(t *testing.T) {
	n, err := peakIn("VmPeak:\t  900 kB\nVmHWM:\t  12 kB\nVmRSS:\t 8 kB\n")
	require.NoError(t, err)
	require.Equal(t, int64(12<<10), n)
	_, err = peakIn("VmRSS:\t 8 kB\n")
	require.ErrorIs(t, err, errNoPeak)
}

func TestGrowPrintsAPeak(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc/self/status here")
	}
	dir := gitenv.Repo(t)
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-grow", "20", "-dir", dir}, &out, io.Discard))
	peak, err := strconv.Atoi(strings.TrimSpace(out.String()))
	require.NoError(t, err)
	require.Greater(t, peak, 1<<20)
	require.Equal(t, "20", gitenv.Git(t, dir, "rev-list", "--count", fmt.Sprintf("refs/jp/conversations/%s", conversationID(0))))
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 12_345: "12,345"} {
		require.Equal(t, want, grouped(n))
	}
}
