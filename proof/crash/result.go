package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/internal/testing/crashtest/row"
)

// A result is the result of one suite.
type result struct {
	suite suite
	rows  []entry
	skips []skip
	tests []*test // in the order in which they began; "" is the package itself
	since map[string]time.Time
	fault error // of the log, instead of the tested code
}

// An entry is a row of the table, with the time that it took.
type entry struct {
	row.Row
	Package string  `json:"package"`
	Seconds float64 `json:"seconds"`
}

// A skip is a part that this machine cannot try.
type skip struct {
	Class string `json:"class"`
	What  string `json:"what"`
}

// A test is one test function, its subtests in it.
type test struct {
	name     string
	reported bool // it logged a row, or the reason why there is none
	failed   bool
	output   strings.Builder
}

func newResult(s suite) *result { return &result{suite: s, since: map[string]time.Time{}} }

// test finds a test, or makes it.
func (r *result) test(name string) *test {
	if i := slices.IndexFunc(r.tests, func(t *test) bool { return t.name == name }); i >= 0 {
		return r.tests[i]
	}
	r.tests = append(r.tests, &test{name: name})
	return r.tests[len(r.tests)-1]
}

// said keeps a test's output, and finds rows in it.
func (r *result) said(e event, top string) {
	t := r.test(top)
	t.output.WriteString(e.Output)
	if _, text, is := strings.Cut(e.Output, row.SkipPrefix); is {
		class, what, _ := strings.Cut(strings.TrimSpace(text), " ")
		r.skips = append(r.skips, skip{class, what})
		t.reported = true
	}
	found, is, err := row.Parse(e.Output)
	if !is {
		return
	}
	if err == nil && found.Class != r.suite.class {
		err = fmt.Errorf("%w: %s of %s is of class %s", errClass, found.Name, top, found.Class)
	}
	r.fault = errors.Join(r.fault, err)
	if name := r.suite.formats.String(); name != "" {
		found.Name += ", " + name
	}
	r.rows = append(r.rows, entry{found, r.suite.pkg, e.Time.Sub(r.since[e.Test]).Seconds()})
	r.since[e.Test] = e.Time
	t.reported = true
}

// end takes how go test itself ended.
func (r *result) end(err error, stderr string) {
	if err == nil || slices.ContainsFunc(r.tests, func(t *test) bool { return t.failed }) {
		return
	}
	t := r.test("")
	t.failed = true
	fmt.Fprintln(&t.output, err, stderr)
}

// failure is the run's fault, or nil.
func (r *result) failure() error {
	all := []error{r.fault}
	named := 0
	for _, t := range r.tests {
		if t.name == "" {
			continue
		}
		named++
		switch {
		case t.failed:
			all = append(all, fmt.Errorf("%w: %s of %s", errFailed, t.name, r.suite.pkg))
		case !t.reported:
			all = append(all, fmt.Errorf("%w: %s of %s", errSilent, t.name, r.suite.pkg))
		}
	}
	failed := slices.ContainsFunc(r.tests, func(t *test) bool { return t.failed })
	switch {
	case failed && errors.Join(all...) == nil:
		all = append(all, fmt.Errorf("%w: the tests of %s do not run", errFailed, r.suite.pkg))
	case named == 0 && !failed:
		all = append(all, fmt.Errorf("%w: no test of %s is named %s", errNothing, r.suite.pkg, r.suite.run))
	}
	for _, e := range r.rows {
		if e.Violations > 0 {
			all = append(all, fmt.Errorf("%w: %s", errViolation, e.Name))
		}
	}
	return errors.Join(all...)
}

// brief is one line about it.
func (r *result) brief() string {
	points, violations, skipped := 0, 0, ""
	for _, e := range r.rows {
		points, violations = points+e.Points, violations+e.Violations
	}
	if len(r.skips) > 0 {
		skipped = fmt.Sprintf(", %d skipped", len(r.skips))
	}
	if r.failure() != nil {
		skipped += ", FAILED"
	}
	return fmt.Sprintf("%d points, %d violations%s", points, violations, skipped)
}
