package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// Units of what a row compares.
const (
	seconds = "s"
	octets  = "bytes"
)

// A row compares jp with one rival.
type row struct {
	On        string  `json:"on"` // name of the place
	Name      string  `json:"row"`
	RivalName string  `json:"rival_name,omitempty"`
	Unit      string  `json:"unit,omitempty"`
	JP        float64 `json:"jp"`
	Rival     float64 `json:"rival"`
	Ratio     float64 `json:"ratio,omitempty"`
	// Target is the greatest ratio, difference or value that is good enough; 0 for none.
	Target     float64 `json:"target,omitempty"`
	Difference bool    `json:"difference,omitempty"` // the target is of JP-Rival
	Alone      bool    `json:"alone,omitempty"`      // the target is of JP
	Verdict    string  `json:"verdict"`
	Failed     string  `json:"failed,omitempty"` // why nothing was measured
}

// judged is the row with its ratio and verdict.
func (r row) judged() row {
	if r.Failed != "" {
		r.Verdict = "not measured: " + r.Failed
		return r
	}
	got, ok := ratio(r.JP, r.Rival)
	if !ok {
		r.Failed = fmt.Sprintf("%v against %v is no ratio", r.JP, r.Rival)
		r.Verdict = "not measured: " + r.Failed
		return r
	}
	r.Ratio = got
	over, absolute := r.JP-r.Target, r.Difference || r.Alone
	if r.Difference {
		over -= r.Rival
	}
	switch {
	case r.Target == 0:
		r.Verdict = "–"
	case absolute && over > 0:
		r.Verdict = "missed by " + quantity(over, r.Unit)
	case !absolute && got > r.Target:
		r.Verdict = fmt.Sprintf("missed by %.0f %%", math.Ceil(100*(got/r.Target-1)))
	default:
		r.Verdict = "ok"
	}
	return r
}

// compared is what the column of ratios shows.
func (r row) compared() string {
	switch {
	case r.Failed != "":
		return "–"
	case r.Difference && r.JP < r.Rival:
		return "−" + quantity(r.Rival-r.JP, r.Unit)
	case r.Difference:
		return "+" + quantity(r.JP-r.Rival, r.Unit)
	}
	return fmt.Sprintf("%.2f×", r.Ratio)
}

func (r row) bound() string {
	switch {
	case r.Target == 0:
		return "–"
	case r.Difference:
		return "≤ +" + quantity(r.Target, r.Unit)
	case r.Alone:
		return "≤ " + quantity(r.Target, r.Unit)
	}
	return fmt.Sprintf("≤ %g×", r.Target)
}

// quantity is a number with its unit, in three digits or so.
func quantity(v float64, unit string) string {
	if unit == octets {
		if v >= 1<<20 {
			return fmt.Sprintf("%.1f MiB", v/(1<<20))
		}
		return fmt.Sprintf("%.0f B", v)
	}
	switch d := time.Duration(v * float64(time.Second)); {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", v)
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", v*1e3)
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", v*1e3)
	case d >= 100*time.Microsecond:
		return fmt.Sprintf("%.2f ms", v*1e3)
	}
	return fmt.Sprintf("%.1f µs", v*1e6)
}

// A report is all that one run found out.
type report struct {
	Machine machine  `json:"machine"`
	Places  []place  `json:"places"`
	Notes   []string `json:"notes,omitempty"`
	Rows    []row    `json:"rows"`
}

func (r *report) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintln(w, r.Machine)
	for _, p := range r.Places {
		fmt.Fprintln(w, p)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, n)
	}
	fmt.Fprintln(w)
	return renderTable(w, r.Rows)
}

// renderTable prints rows in columns; those of one place stand together.
func renderTable(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "on\trow\tjp\trival\tratio\ttarget\tverdict")
	for _, r := range rows {
		jp, rival := "–", cmp.Or(r.RivalName, "–")
		if r.Failed == "" {
			jp, rival = quantity(r.JP, r.Unit), quantity(r.Rival, r.Unit)+" "+r.RivalName
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.On, r.Name, jp, rival, r.compared(), r.bound(), r.Verdict)
	}
	return t.Flush()
}

// failures is what could not be measured, nil if all was.
func (r *report) failures() error {
	var errs []error
	for _, row := range r.Rows {
		if row.Failed != "" {
			errs = append(errs, fmt.Errorf("%s: %s", row.Name, row.Failed))
		}
	}
	return errors.Join(errs...)
}
