package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A report is the result of all suites.
type report struct {
	Machine machine `json:"machine"`
	Quick   bool    `json:"quick"`
	Rows    []entry `json:"rows"`
	Skipped []skip  `json:"skipped"`
	Sums    []sum   `json:"sums"`
	// Failures are the faults of the run, also those without a row: a failing test may end before its row.
	Failures []string `json:"failures"`
	results  []*result
}

// A sum is a class as a whole. Least is 0 if there is no number to reach.
type sum struct {
	Class      string `json:"class"`
	What       string `json:"what"`
	Points     int    `json:"points"`
	Violations int    `json:"violations"`
	Least      int    `json:"least"`
	Skipped    bool   `json:"skipped"` // the machine could not try some of it
	Failed     bool   `json:"failed"`
}

// add takes a result; the sums are made anew.
func (r *report) add(res *result) {
	r.results = append(r.results, res)
	r.Rows, r.Skipped = append(r.Rows, res.rows...), append(r.Skipped, res.skips...)
	r.Sums = nil
	for _, c := range classes {
		if !slices.ContainsFunc(r.results, func(res *result) bool { return res.suite.class == c.letter }) {
			continue
		}
		s := sum{Class: c.letter, What: c.what, Least: c.least}
		for _, e := range r.Rows {
			if e.Class == c.letter {
				s.Points, s.Violations = s.Points+e.Points, s.Violations+e.Violations
			}
		}
		s.Skipped = slices.ContainsFunc(r.Skipped, func(k skip) bool { return k.Class == c.letter })
		s.Failed = slices.ContainsFunc(r.results, func(res *result) bool { return res.suite.class == c.letter && res.failure() != nil })
		if r.Quick {
			s.Least = 0
		}
		r.Sums = append(r.Sums, s)
	}
}

// skip notes a part of a class that this machine cannot try.
func (r *report) skip(s skip) {
	if !slices.Contains(r.Skipped, s) {
		r.Skipped = append(r.Skipped, s)
	}
}

// print prints the table, and below it why the run failed: a reader of the one sees
// the other.
func (r *report) print(out io.Writer, asJSON bool, failed error) error {
	r.Failures = []string{}
	if failed != nil {
		r.Failures = strings.Split(failed.Error(), "\n")
	}
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(out, "%s\n\n", r.Machine)
	if err := r.printTable(out); err != nil {
		return err
	}
	for _, k := range r.Skipped {
		fmt.Fprintf(out, "not tried here: %s %s\n", k.Class, k.What)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(out, "FAILED: %s\n", f)
	}
	return nil
}

func (r *report) printTable(out io.Writer) error {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "class\twhat\tpoints\tviolations\ttime\tnote")
	for _, e := range r.Rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\n", e.Class, e.Name, e.Points, e.Violations, took(e.Seconds), e.Note)
	}
	for _, s := range r.Sums {
		fmt.Fprintf(w, "%s\tall: %s\t%d\t%d\t\t%s\n", s.Class, s.What, s.Points, s.Violations, s.verdict())
	}
	w.Flush()
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// explain shows the output of the failed tests.
func (r *report) explain(out io.Writer) {
	for _, res := range r.results {
		for _, t := range res.tests {
			if t.failed && t.output.Len() > 0 {
				fmt.Fprintf(out, "\n--- %s %s\n%s", res.suite.pkg, t.name, t.output.String())
			}
		}
	}
}

// verdict says how a class stands to the number that it has to reach.
func (s sum) verdict() string {
	switch {
	case s.Failed:
		return "FAILED"
	case s.Least == 0:
		return ""
	case s.Points >= s.Least:
		return fmt.Sprintf("≥ %d: reached", s.Least)
	case s.Skipped:
		return fmt.Sprintf("≥ %d: not on this machine", s.Least)
	}
	return fmt.Sprintf("≥ %d: MISSED", s.Least)
}

func (r *report) failure() error {
	var all []error
	for _, res := range r.results {
		all = append(all, res.failure())
	}
	for _, s := range r.Sums {
		if s.Points < s.Least && !s.Skipped {
			all = append(all, fmt.Errorf("%w: %d of class %s, not %d", errTooFew, s.Points, s.Class, s.Least))
		}
	}
	return errors.Join(all...)
}

func took(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}
