// Package row is how a crash test says what it enumerated, and asks how much it
// should: one line in the test's log for each row of the table that `make crash`
// prints.
//
// A row counts points: distinct places or moments at which something was made to
// go wrong and what was left was then checked. It only logs; the tests
// themselves find the violations.
package row

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Env is the variable that says how much is tried: "full" all of it, "sample"
// what takes a minute or two in all, anything else what a usual test run bears.
const Env = "JP_CRASH"

// What the lines of the log begin with.
const (
	Prefix = "crash-row "
	// SkipPrefix stands before a class, a name, a colon, and why this machine
	// cannot try it.
	SkipPrefix = "crash-skip "
)

// maxNote keeps a line shorter than what `go test -json` would cut in two.
const maxNote = 600

// Row is one line of the table.
type Row struct {
	// Class is the letter of the kind of fault: a for failing calls, b for kills,
	// c for power cuts, d for other processes, e for limits, m for models.
	Class string `json:"class"`
	// Name says what was written, and what went wrong.
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

// Of chooses what fits how much is tried.
func Of[T any](usual, sample, full T) T {
	switch os.Getenv(Env) {
	case "full":
		return full
	case "sample":
		return sample
	}
	return usual
}

// Parse finds a row in a line of a log. The error says what is wrong with a line
// that should hold one.
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
