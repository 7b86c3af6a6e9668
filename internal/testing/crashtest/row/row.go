// Package row reports the points that a crash test enumerated, and tells how many it should: one line in the
// test's log for each row of the table that `make crash` prints.
//
// A row counts points: distinct places or moments of an injected failure with a check of the result. It only
// logs. The tests themselves find the violations.
package row

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Env is the variable for the amount of points: "full" for all of them, "sample" for a minute or two in all,
// anything else for a usual test run.
const Env = "JP_CRASH"

// Prefixes of the lines of the log.
const (
	Prefix = "crash-row "
	// SkipPrefix stands before a class, a name, a colon, and the reason why this machine cannot try it.
	SkipPrefix = "crash-skip "
)

// maxNote keeps a line too short for `go test -json` to cut it in two.
const maxNote = 600

// Row is one line of the table.
type Row struct {
	// Class is the letter of the kind of fault: a for failing calls, b for kills,
	// c for power cuts, d for other processes, e for limits, m for models.
	Class string `json:"class"`
	// Name names the write and its failure.
	Name string `json:"name"`
	// Points is how many places were tried.
	Points int `json:"points"`
	// Violations is how many of them broke a promise.
	Violations int    `json:"violations"`
	Note       string `json:"note"`
}

// Log writes a row into the log of a test. Violations make the test fail.
func Log(t testing.TB, r Row) {
	t.Helper()
	if utf8.RuneCountInString(r.Note) > maxNote {
		r.Note = string([]rune(r.Note)[:maxNote]) + "…"
	}
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("row %q: %v", r.Name, err)
	}
	t.Log(Prefix + string(line))
	if r.Violations > 0 {
		t.Errorf("%s: %d violations", r.Name, r.Violations)
	}
}

// Skip ends a test that this machine cannot run.
func Skip(t testing.TB, class, name, why string) {
	t.Helper()
	t.Skip(SkipPrefix + class + " " + name + ": " + why)
}

// Of chooses the amount by Env.
func Of[T any](usual, sample, full T) T {
	switch os.Getenv(Env) {
	case "full":
		return full
	case "sample":
		return sample
	}
	return usual
}

// Parse finds a row in a line of a log. The error describes a faulty row.
func Parse(line string) (r Row, found bool, err error) {
	_, data, found := strings.Cut(line, Prefix+"{")
	if !found {
		return Row{}, false, nil
	}
	if err := json.Unmarshal([]byte("{"+strings.TrimSpace(data)), &r); err != nil {
		return r, true, fmt.Errorf("row %q: %w", line, err)
	}
	if r.Class == "" || r.Name == "" || r.Points <= 0 {
		return r, true, fmt.Errorf("row %q: a row has a class, a name and points", line)
	}
	return r, true, nil
}
