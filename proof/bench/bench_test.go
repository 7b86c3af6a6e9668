package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/gitenv"
)

// testBench measures as little as can be.
func testBench(t *testing.T) *bench {
	t.Helper()
	gitenv.Isolate(t)
	return &bench{
		sampleSizes: sampleSizes{shortOps: 1, slowOps: 1, processes: 1, used: 20}, scratch: t.TempDir(), corpus: corpus(t),
		environ: os.Environ(), log: io.Discard, rng: seeded(), kept: map[string]*history{}, sought: map[[2]int]*greps{},
	}
}

// TestTasks runs the short tasks, to see that both sides still work.
func TestTasks(t *testing.T) {
	b := testBench(t)
	r := &report{}
	small := []task{
		{"append", durable, measureAppend, named(appendNames, 0)}, {"fork", durable, forkOf(20), named(forkNames, 20)}, {"chain", short, chainsOf(3, 20), append(named(chainNames, 3), named(chainNames, 20)...)},
		{"load", short, loadOf(20), named(loadNames, 20)},
		{"snapshot", short, snapshotOf(120), named(snapshotNames, 120)}, {"size", short, sizesOf(20), named(sizeNames, 20)},
	}
	require.NoError(t, b.measureOn(t.Context(), r, "here", b.scratch, small))
	require.NoError(t, r.failures())
	require.Len(t, r.Places, 1)
	require.NotEmpty(t, r.Places[0].Path)
	appended := 17
	if _, err := exec.LookPath("sqlite3"); err != nil {
		appended -= 2
		require.Contains(t, b.notes, "SQLite FULL: skipped: not here: sqlite3 (apt-get install sqlite3)")
	}
	require.Len(t, r.Rows, appended+2+2+4+4+4)
	for _, row := range r.Rows {
		require.Positive(t, row.Ratio, row.Name)
		require.NotEmpty(t, row.rounds.ratios(), row.Name)
		require.Equal(t, "here", row.On)
		require.True(t, slices.ContainsFunc(small, func(t task) bool { return t.prints(row.Name) }), row.Name)
		require.LessOrEqual(t, utf8.RuneCountInString(row.Name), nameCells)
	}
	require.Equal(t, []string{workAppend}, works(growthOf(r.Rows)))
}

func works(all []growth) (names []string) {
	for _, g := range all {
		names = append(names, g.Work)
	}
	return names
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
	rows := b.attempt(t.Context(), task{"load", short, loadOf(0), nil}, filesystem{Name: "here"})
	require.Len(t, rows, 1)
	require.Equal(t, "not measured", rows[0].Verdict)
	require.NotEmpty(t, rows[0].Failed)
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-quick", "-rows", "^load", "-dir", "/x", "-save", "a", "-compare", "b", "-loop=false"}, io.Discard)
	require.NoError(t, err)
	require.True(t, o.quick)
	require.Equal(t, []string{"/x", "a", "b"}, []string{o.dir, o.save, o.compare})
	require.False(t, o.loop)
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
	of := func(rows string) *regexp.Regexp { return regexp.MustCompile(rows) }
	require.Equal(t, []string{"load 1k", "load 10k"}, named(options{rows: of("^load")}))
	require.Equal(t, []string{"flat 1k", "flat 10k"}, named(options{rows: of("jp print")}))
	require.Equal(t, []string{"load 1k", "load 10k", "size 1k", "size 10k"}, named(options{rows: of("packed")}))
	require.Equal(t, []string{"grep 20k", "grep 200k"}, named(options{rows: of("first grep"), quick: true}))
	require.Equal(t, []string{"append"}, named(options{rows: of("^append$")}), "a task by its name alone")
	require.Equal(t, []string{"list 1k", "list 10k", "list refs 1k"}, named(options{rows: of("list")}))
	require.Contains(t, named(options{full: true}), "load 100k")
	require.NotContains(t, named(options{rows: of(""), quick: true}), "load 10k")
	require.Contains(t, named(options{rows: of("load"), quick: true}), "load 10k", "what is named is measured")
	require.Len(t, named(options{full: true}), len(tasks)-2)
	require.Equal(t, []string{"large list"}, named(options{full: true, rows: of("^large list")}), "only where -rows names it")
	require.Equal(t, []string{"append", "append refs"}, []string{durableTasks()[0].name, durableTasks()[1].name})
}

func TestWhatIsNotHereIsANote(t *testing.T) {
	b := testBench(t)
	absent := func(context.Context, *bench, filesystem) ([]row, error) {
		return nil, fmt.Errorf("%w: a disk", errAbsent)
	}
	for range 2 {
		require.Empty(t, b.attempt(t.Context(), task{"spin", short, absent, nil}, filesystem{Name: "here"}))
	}
	require.Equal(t, []string{"spin: skipped: not here: a disk"}, b.notes, "said once")
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 12_345: "12,345", 1_000_020: "1,000,020"} {
		require.Equal(t, want, grouped(n))
	}
}

func TestWhatWasMeasuredBeforeAnInterruptIsKept(t *testing.T) {
	b := testBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	one := func(context.Context, *bench, filesystem) ([]row, error) {
		return []row{{Name: "first", RivalName: "x", Unit: octets, JP: 1, Rival: 2, rounds: pairs{jp: []float64{1}, rival: []float64{2}}}}, nil
	}
	end := func(ctx context.Context, _ *bench, _ filesystem) ([]row, error) {
		cancel()
		return nil, context.Cause(ctx)
	}
	defer func(all []task) { tasks = all }(tasks)
	tasks = []task{{"one", short, one, nil}, {"end", short, end, nil}, {"never", short, one, nil}}

	r, err := b.measure(ctx)
	require.ErrorIs(t, err, errPartial)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.Rows, 1, "neither the interrupted one nor one behind it")
	path := filepath.Join(t.TempDir(), "saved.txt")
	var out strings.Builder
	require.NoError(t, r.hand(options{save: path}, nil, &out))
	require.Contains(t, out.String(), "The table is partial: the run ended after 1 rows.\n")
	require.Regexp(t, `(?m)^here  first `, out.String())
	saved, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(saved), "\npartial: ")
	require.Contains(t, string(saved), "BenchmarkFirst/on=here/vs=x/side=rival 1 2.0 B/op\n")

	r.Rows = nil
	require.NoError(t, r.hand(options{save: path}, nil, io.Discard))
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, saved, kept, "a run without rows replaces nothing")
}

func TestOnlyRowsThatAreAskedForAreShown(t *testing.T) {
	b := testBench(t)
	two := func(context.Context, *bench, filesystem) ([]row, error) {
		return []row{{Name: "load 20 events, loose", JP: 1, Rival: 1}, {Name: "load 20 events, packed by git", JP: 1, Rival: 1}}, nil
	}
	for rows, want := range map[string][]string{
		"packed":  {"load 20 events, packed by git"},
		"packed$": {"load 20 events, packed by git"}, // as the list has it
		"by git":  {"load 20 events, packed by git"},
		"^tiny$":  {"load 20 events, loose", "load 20 events, packed by git"},
	} {
		b.options.rows = regexp.MustCompile(rows)
		var names []string
		for _, r := range b.attempt(t.Context(), task{"tiny", short, two, named(loadNames, 20)}, filesystem{Name: "here"}) {
			names = append(names, r.Name)
		}
		require.Equal(t, want, names, rows)
	}
	_, err := parseOptions([]string{"-rows", "load 100k"}, io.Discard)
	require.ErrorContains(t, err, "\n  load 100k: load 100,000 events, loose; load 100,000 events, packed (with -full)")
	require.ErrorContains(t, err, "first grep, 100 × 200 events")
}

// prints reports whether a row is one that the task lists.
func (t task) prints(name string) bool {
	return slices.ContainsFunc(t.rows, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// TestTasksListTheirRows looks at a run of all tasks but those of -full.
func TestTasksListTheirRows(t *testing.T) {
	text, err := os.ReadFile("baseline.txt")
	require.NoError(t, err)
	measured := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^Benchmark(.*)/on=`).FindAllStringSubmatch(string(text), -1) {
		name := strings.ReplaceAll(m[1], "_", " ")
		measured[strings.ToLower(name[:1])+name[1:]] = true
	}
	for name := range measured {
		require.True(t, slices.ContainsFunc(tasks, func(t task) bool { return t.prints(name) }), name)
	}
	for _, task := range tasks {
		for _, begin := range task.rows {
			found := false
			for name := range measured {
				found = found || strings.HasPrefix(name, begin)
			}
			require.True(t, found || task.kind >= longest, "baseline.txt lacks %q; a row of reftables needs git 2.45 in PATH (tools/git-next)", begin)
		}
	}
}
