package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const progress = `fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed
fuzz: elapsed: 3s, execs: 1200 (400/sec), new interesting: 4 (total: 7)
fuzz: elapsed: 4s, execs: 1250 (50/sec), new interesting: 5 (total: 8)
`

const deadline = "--- FAIL: FuzzX (10.05s)\n    context deadline exceeded\nFAIL\n"

func TestWhatIsAFailure(t *testing.T) {
	exit := errors.New("exit status 1")
	tests := []struct {
		name   string
		time   string
		took   time.Duration
		out    string
		err    error
		inputs []string
		want   string
	}{
		{"nothing found", "10s", 10 * time.Second, progress + "PASS\n", nil, nil, "ok"},
		{"go's own deadline", "10s", 10 * time.Second, progress + deadline, exit, nil, "ok (go's deadline)"},
		{"a deadline before its time", "10s", 9 * time.Second, progress + deadline, exit, nil, "FAILED"},
		{"a deadline of a number of executions", "10x", 10 * time.Second, progress + deadline, exit, nil, "FAILED"},
		{"a deadline with an input", "10s", 10 * time.Second, progress + deadline, exit, []string{"abc"}, "FAILED"},
		{"a deadline and more", "10s", 10 * time.Second, progress + "panic: x\n" + deadline, exit, nil, "FAILED"},
		{"a deadline that a target reports", "10s", 10 * time.Second,
			"--- FAIL: FuzzX (10.05s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: context deadline exceeded\nFAIL\n", exit, nil, "FAILED"},
		{"an input", "10s", time.Second, "--- FAIL: FuzzX (0.05s)\n    x_test.go:9: no\nFAIL\n", exit, []string{"abc"}, "FAILED"},
		{"an input and no failure", "10s", 10 * time.Second, "PASS\n", nil, []string{"abc"}, "FAILED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := parseBudget(tt.time)
			require.NoError(t, err)
			r := result{err: tt.err, took: tt.took, inputs: tt.inputs, stats: lastStats(progress), baseline: lastBaseline(progress)}
			r.settle(b, tt.out)
			require.Equal(t, tt.want, r.verdict())
			if r.stats = (stats{}); tt.want == "ok" {
				require.Equal(t, "ok (its corpus only)", r.verdict())
				r.baseline = baseline{2, 3}
				require.Equal(t, "nothing tried (2/3 of its corpus)", r.verdict())
			}
		})
	}
}

func TestCounts(t *testing.T) {
	require.Equal(t, stats{executions: 1250, fresh: 5, corpus: 8}, lastStats(progress+deadline))
	require.Zero(t, lastStats("PASS\n"))
	require.Equal(t, strings.TrimSpace(deadline), unusual(progress+deadline))
}

func TestBudgets(t *testing.T) {
	for _, text := range []string{"", "0s", "-1s", "10", "x", "0x", "-5x", "1.5x", "10 s"} {
		_, err := parseBudget(text)
		require.ErrorIs(t, err, errBudget, text)
	}
	b, err := parseBudget("1m")
	require.NoError(t, err)
	require.Equal(t, budget{text: "1m", duration: time.Minute}, b)
	b, err = parseBudget("2000x")
	require.NoError(t, err)
	require.Equal(t, budget{text: "2000x", count: 2000}, b)
	require.Equal(t, longest, b.limit())
}

func TestASecondTryIsLonger(t *testing.T) {
	for text, want := range map[string]string{"2s": "30s", "10s": "1m40s", "5x": "2000x", "2000x": "20000x"} {
		b, err := parseBudget(text)
		require.NoError(t, err)
		parsed, err := parseBudget(want)
		require.NoError(t, err)
		require.Equal(t, parsed, b.longer(), text)
	}
}

func TestBaselines(t *testing.T) {
	const half = "fuzz: elapsed: 2s, gathering baseline coverage: 99/158 completed\n"
	tests := []struct {
		name, out string
		want      baseline
		complete  bool
	}{
		{"go said nothing", "PASS\n", baseline{}, false},
		{"half of it", "fuzz: elapsed: 0s, gathering baseline coverage: 0/158 completed\n" + half + "PASS\n", baseline{99, 158}, false},
		{"all", half + "fuzz: elapsed: 3s, gathering baseline coverage: 158/158 completed, now fuzzing with 2 workers\n", baseline{158, 158}, true},
		{"without coverage", "fuzz: elapsed: 0s, testing seed corpus: 1/3 completed\n", baseline{1, 3}, false},
		{"it began", half + "fuzz: elapsed: 3s, execs: 0 (0/sec), new interesting: 0 (total: 158)\n", baseline{158, 158}, true},
		{"no corpus", "fuzz: elapsed: 3s, execs: 0 (0/sec), new interesting: 0 (total: 0)\n", baseline{1, 1}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lastBaseline(tt.out)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.complete, got.complete())
		})
	}
}

// TestATargetOfWhichNothingWasTried has a corpus of which each input takes more
// than the time.
func TestATargetOfWhichNothingWasTried(t *testing.T) {
	scratchModule(t)
	slow := "package p\nimport (\"testing\"; \"time\")\nfunc FuzzSlow(f *testing.F) {\n\tfor i := range 300 { f.Add(i) }\n" +
		"\tf.Fuzz(func(*testing.T, int) { time.Sleep(2*time.Millisecond) })\n}\n"
	require.NoError(t, os.WriteFile("p/slow_test.go", []byte(slow), 0o644))
	suites, err := findSuites(t.Context(), []string{"./..."}, regexp.MustCompile("Slow"))
	require.NoError(t, err)
	require.NoError(t, suites[0].build(t.Context(), filepath.Join(t.TempDir(), "p.test")))

	short := budget{text: "100ms", duration: 100 * time.Millisecond}
	var all table
	all.add(suites[0].try(t.Context(), "FuzzSlow", short))
	require.ErrorIs(t, all.failure(), errUntried)
	require.NotErrorIs(t, all.failure(), errFailed)
	var out strings.Builder
	all.print(&out)
	require.Regexp(t, `(?m)^p\.FuzzSlow .* nothing tried \(\d+/3\d\d of its corpus\)$`, out.String())
	require.Regexp(t, `(?m)^1 targets .* 0 failed, 1 not tried$`, out.String())

	r := suites[0].runOne(t.Context(), "FuzzSlow", budget{text: "20x", count: 20})
	require.True(t, strings.HasPrefix(r.verdict(), "ok"), "a second try suffices: %s", r.verdict())
}

// scratchModule is a module with one target that holds and one that does not.
func scratchModule(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "p"), 0o755))
	for name, text := range map[string]string{
		"go.mod":      "module scratch\n\ngo 1.26\n",
		"p/p.go":      "package p\n",
		"p/p_test.go": "package p\nimport \"testing\"\nfunc FuzzGood(f *testing.F) { f.Fuzz(func(*testing.T, int) {}) }\nfunc Fuzzy(int, int) {}\n",
		"p/x_test.go": "package p_test\nimport \"testing\"\nfunc FuzzBad(f *testing.F) {\n\tf.Add(7)\n" +
			"\tf.Fuzz(func(t *testing.T, n int) { if n != 7 { t.Fatal(\"not seven\") } })\n}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
}

func TestRunsEveryTarget(t *testing.T) {
	scratchModule(t)
	var out strings.Builder
	err := run(t.Context(), []string{"-time", "50x"}, &out, io.Discard)
	require.ErrorIs(t, err, errFailed)
	require.Regexp(t, `(?m)^p\.FuzzGood +\d+ +\d+ +\d+ +[0-9.]+s +ok$`, out.String())
	require.Regexp(t, `(?m)^p\.FuzzBad .* FAILED$`, out.String())
	require.Regexp(t, `(?m)^2 targets .* 1 failed$`, out.String())
	require.Contains(t, out.String(), "not seven")
	require.Regexp(t, `(?m)^input: p/testdata/fuzz/FuzzBad/[0-9a-f]+$`, out.String())
	require.Regexp(t, `(?m)^again: go test -run '\^FuzzBad\$/\^[0-9a-f]+\$' \./p$`, out.String())

	out.Reset()
	require.NoError(t, run(t.Context(), []string{"-time", "50x", "-run", `^p\.FuzzG`}, &out, io.Discard))
	require.NotContains(t, out.String(), "FuzzBad")
	require.ErrorIs(t, run(t.Context(), []string{"-run", "nothing"}, &out, io.Discard), errNoTargets)
}

func TestAnInterruptIsNoFailure(t *testing.T) {
	tests := []struct {
		name, out string
		inputs    []string
		want      string
	}{
		{"in the midst", progress, nil, "interrupted"},
		{"with an end", progress + "PASS\n", nil, "interrupted"},
		{"go takes it for a failure", progress + "--- FAIL: FuzzX (1.05s)\n    context canceled\nFAIL\n", nil, "interrupted"},
		{"after a failure", progress + "--- FAIL: FuzzX (1.05s)\n    x_test.go:9: no\nFAIL\n", nil, "FAILED"},
		{"after an input", progress, []string{"abc"}, "FAILED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := result{err: errors.New("signal"), inputs: tt.inputs, baseline: lastBaseline(progress)}
			r.interrupt(tt.out)
			require.Equal(t, tt.want, r.verdict())
		})
	}
}

// interruptAt ends a context where a text is written.
type interruptAt struct {
	text string
	end  func()
}

func (w interruptAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		time.AfterFunc(500*time.Millisecond, w.end)
	}
	return len(p), nil
}

func TestATableIsPartialAfterAnInterrupt(t *testing.T) {
	scratchModule(t)
	long := "package p\nimport \"testing\"\nfunc FuzzLong(f *testing.F) { f.Fuzz(func(*testing.T, int) {}) }\n"
	require.NoError(t, os.WriteFile("p/long_test.go", []byte(long), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out strings.Builder
	err := run(ctx, []string{"-time", "5s", "-run", "Good|Long"}, &out, interruptAt{"p.FuzzGood", cancel})
	require.ErrorIs(t, err, errInterrupted)
	require.NotErrorIs(t, err, errFailed)
	require.ErrorContains(t, err, "1 of 2 targets were tried")
	require.Regexp(t, `(?m)^p\.FuzzLong .* interrupted$`, out.String())
	require.Regexp(t, `(?m)^2 targets .* 0 failed$`, out.String())
	require.Contains(t, out.String(), "The table is partial: 1 of 2 targets were tried.\n")
	require.NotContains(t, out.String(), "again:")
}
