package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest/row"
)

// do runs tests of a package below testdata.
func do(t *testing.T, pkg, run string) *result {
	t.Helper()
	res, err := suite{class: "a", pkg: "./testdata/" + pkg, run: run, timeout: time.Minute}.do(t.Context(), true)
	require.NoError(t, err)
	return res
}

func TestRowsAreCollected(t *testing.T) {
	res := do(t, "mixed", "^(TestReports|TestCannot)$")
	require.NoError(t, res.failure())
	require.Equal(t, []skip{{"a", "a disk of its own: no root"}}, res.skips)
	var rows []row.Row
	for _, e := range res.rows {
		rows = append(rows, e.Row)
		require.GreaterOrEqual(t, e.Seconds, 0.0)
		require.Less(t, e.Seconds, 60.0)
	}
	require.Equal(t, []row.Row{{Class: "a", Name: "first", Points: 7, Note: "sample"}, {Class: "a", Name: "second", Points: 5}}, rows)
	require.Equal(t, "12 points, 0 violations, 1 skipped", res.brief())
}

func TestWhatMakesARunFail(t *testing.T) {
	tests := []struct {
		pkg, run string
		want     error
		said     string
	}{
		{"mixed", "^(TestReports|TestSilent)$", errSilent, ""},
		{"mixed", "^(TestReports|TestViolates)$", errViolation, "1 violations"},
		{"mixed", "^(TestReports|TestFails)$", errFailed, "this is why"},
		{"mixed", "^TestOtherClass$", errClass, ""},
		{"mixed", "^TestDies$", errFailed, "this is how"},
		{"mixed", "^TestNobody$", errNothing, ""},
		{"broken", ".", errFailed, "cannot use"},
		{"absent", ".", errFailed, "absent"},
	}
	for _, tt := range tests {
		res := do(t, tt.pkg, tt.run)
		require.ErrorIs(t, res.failure(), tt.want, "%s %s", tt.pkg, tt.run)
		r := &report{}
		r.add(res)
		var out strings.Builder
		r.explain(&out)
		require.Contains(t, out.String(), tt.said, tt.run)
		require.ErrorIs(t, r.failure(), tt.want)
		require.Equal(t, "FAILED", r.Sums[0].verdict(), tt.run)
		out.Reset()
		require.NoError(t, r.print(&out, false, r.failure()))
		require.Regexp(t, `(?m)^FAILED: .`, out.String(), tt.run)
	}
}

// A run that is ended says so in its table, and leaves no files.
func TestARunThatIsEnded(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithCancelCause(t.Context())
	r := &report{Quick: true}
	mixed := suite{class: "a", pkg: "./testdata/mixed", run: "^TestReports$", timeout: time.Minute}
	begun := &noticed{word: "^TestWaits$ … ", act: func() { go cancelWhen(t, temporary, cancel) }}
	err := r.runAll(ctx, []suite{mixed, {class: "a", pkg: "./testdata/mixed", run: "^TestWaits$", timeout: time.Minute}}, begun)
	require.ErrorIs(t, err, errEnough)
	require.ErrorContains(t, err, "ended behind 1 of 2 suites")
	var out strings.Builder
	require.NoError(t, r.print(&out, false, err))
	require.Contains(t, out.String(), "FAILED: ended behind 1 of 2 suites: enough")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left)
}

var errEnough = errors.New("enough")

// cancelWhen ends a run when its test has made a file.
func cancelWhen(t *testing.T, temporary string, cancel context.CancelCauseFunc) {
	for t.Context().Err() == nil {
		if made, _ := filepath.Glob(filepath.Join(temporary, "crash*/Test*/001/made")); len(made) > 0 {
			cancel(errEnough)
			return
		}
		time.Sleep(time.Millisecond) // another process makes it
	}
}

// noticed acts on a word that is written.
type noticed struct {
	word string
	act  func()
}

func (n *noticed) Write(p []byte) (int, error) {
	if strings.Contains(string(p), n.word) {
		n.act()
	}
	return len(p), nil
}

// counted is a result of a class with some points.
func counted(class string, points int, skips ...skip) *result {
	res := newResult(suite{class: class, pkg: "./x"})
	res.test("TestX").reported = true
	res.rows = []entry{{row.Row{Class: class, Name: "x", Points: points}, "./x", 1.25}}
	res.skips = skips
	return res
}

func TestNumbersToReach(t *testing.T) {
	none := skip{Class: "c", What: "xfs: no root"}
	tests := []struct {
		name  string
		quick bool
		res   *result
		want  error
		says  string
	}{
		{"enough", false, counted("a", 2000), nil, "≥ 2000: reached"},
		{"too few", false, counted("a", 1999), errTooFew, "≥ 2000: MISSED"},
		{"a sample", true, counted("a", 3), nil, ""},
		{"not possible here", false, counted("c", 3, none), nil, "≥ 200: not on this machine"},
		{"no number", false, counted("d", 1), nil, ""},
	}
	for _, tt := range tests {
		r := &report{Quick: tt.quick}
		r.add(tt.res)
		require.ErrorIs(t, r.failure(), tt.want, tt.name)
		require.Len(t, r.Sums, 1)
		require.Equal(t, tt.says, r.Sums[0].verdict(), tt.name)
	}
}

func TestTable(t *testing.T) {
	r := &report{Machine: machine{Date: "2026-01-02 03:04", System: "plan9/mips", Kernel: "4", CPU: "abacus", CPUs: 1, Go: "go9", Git: "3"}}
	r.add(counted("a", 2100))
	r.add(counted("c", 10, skip{"c", "xfs: no root"}))
	var out strings.Builder
	require.NoError(t, r.print(&out, false, nil))
	require.Equal(t, `2026-01-02 03:04 UTC, plan9/mips 4, 1 × abacus, go9, git 3, as not root

class  what                            points  violations  time  note
a      x                               2100    0           1.3s
c      x                               10      0           1.3s
a      all: failing calls and crashes  2100    0                 ≥ 2000: reached
c      all: power cuts                 10      0                 ≥ 200: not on this machine
not tried here: c xfs: no root
`, out.String())
	out.Reset()
	require.NoError(t, r.print(&out, true, errEnough))
	var back report
	require.NoError(t, json.Unmarshal([]byte(out.String()), &back))
	require.Equal(t, r.Sums, back.Sums)
	require.Equal(t, r.Rows, back.Rows)
	require.Equal(t, []string{"enough"}, back.Failures)
}

func TestOptions(t *testing.T) {
	require.Error(t, run(t.Context(), []string{"more"}, io.Discard, io.Discard))
	for _, only := range []string{"x", "a,", "a,x", "abc"} {
		require.ErrorIs(t, run(t.Context(), []string{"-only", only}, io.Discard, io.Discard), errNothing, only)
	}
	all := []suite{{class: "a", pkg: "x"}, {class: "b"}, {class: "a", pkg: "y"}, {class: "c"}}
	for only, want := range map[string]int{"": 4, "a": 2, "b,a": 3, "b, a": 3, "m": 0} {
		got, err := chosen(all, only)
		require.NoError(t, err)
		require.Len(t, got, want, only)
	}
}

func TestFormats(t *testing.T) {
	for _, list := range []string{"md5/files", "sha1", "all,", "sha1/files,x"} {
		require.ErrorIs(t, run(t.Context(), []string{"-formats", list}, io.Discard, io.Discard), errNothing, list)
	}
	todo := []suite{{class: "a", pkg: "./gitstore"}, {class: "a", pkg: "./redact"}, {class: "b", pkg: "./cmd/jp"}}
	for list, want := range map[string]string{
		"":                       "a ./gitstore , a ./redact , b ./cmd/jp ",
		"sha256/files, sha1/git": "a ./gitstore sha256/files, a ./redact , b ./cmd/jp sha256/files, a ./gitstore sha1/git, b ./cmd/jp sha1/git",
	} {
		all, err := chosenFormats(list)
		require.NoError(t, err)
		var got []string
		for _, s := range inFormats(todo, all) {
			got = append(got, s.class+" "+s.pkg+" "+s.formats.String())
		}
		require.Equal(t, want, strings.Join(got, ", "))
	}
	require.Equal(t, []string{"JP_TEST_OBJECTS=sha256", "JP_TEST_REFS="}, formats{"sha256", "files"}.environ())
	require.Equal(t, []string{"JP_TEST_OBJECTS=sha1", "JP_TEST_REFS=reftable"}, formats{"sha1", "reftable"}.environ())
	res := newResult(suite{class: "a", formats: formats{"sha1", "git"}})
	res.said(event{Output: row.Prefix + `{"class":"a","name":"x","points":1}`}, "TestX")
	require.Equal(t, "x, sha1/git", res.rows[0].Name)

	t.Setenv("PATH", t.TempDir())
	r := &report{Quick: true}
	require.NoError(t, r.runAll(t.Context(), []suite{{class: "a", pkg: "./gitstore", formats: formats{"sha1", "reftable"}}}, io.Discard))
	require.Len(t, r.Skipped, 1)
	require.Contains(t, r.Skipped[0].What, "sha1/reftable: the git in PATH has none")
}

// A suite without a letter would never run.
func TestSuitesHaveClasses(t *testing.T) {
	for _, s := range suites {
		_, err := chosen(nil, s.class)
		require.NoError(t, err, s.pkg)
		require.NotZero(t, s.timeout, s.pkg)
	}
}
