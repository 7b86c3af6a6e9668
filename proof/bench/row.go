package main

import (
	"fmt"
	"math"
	"time"
)

// Units of a row's values.
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
	Failed     string  `json:"failed,omitempty"` // why the measurement failed
	// Work and N name one of several sizes of the same work; "" and 0 for a row alone.
	Work string `json:"work,omitempty"`
	N    int    `json:"n,omitempty"`

	rounds pairs
}

// judged is the row with its ratio and verdict.
func (r row) judged() row {
	got, ok := ratio(r.JP, r.Rival)
	if r.Failed == "" && !ok {
		r.Failed = fmt.Sprintf("%v against %v is no ratio", r.JP, r.Rival)
	}
	if r.Failed != "" {
		r.Verdict = "not measured"
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

// compared is the text in the column of ratios.
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
