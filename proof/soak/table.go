package main

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// A line is one thing that was counted or measured.
type line struct {
	name, value, target, verdict string
}

// A table has a run's results. Its methods may be called from any goroutine.
type table struct {
	mu         sync.Mutex
	lines      []line
	violations []string
}

// count tells a number that is judged elsewhere, if at all.
func (t *table) count(name, format string, args ...any) {
	t.add(line{name, fmt.Sprintf(format, args...), "–", "–"})
}

// times adds durations. A target is for their p99; 0 for none.
func (t *table) times(name string, took []time.Duration, target time.Duration) {
	if len(took) == 0 {
		t.count(name, "not measured")
		return
	}
	p99 := rank(took, 0.99)
	l := line{name, fmt.Sprintf("p50 %s  p99 %s  max %s  (%d)", short(rank(took, 0.5)), short(p99), short(rank(took, 1)), len(took)), "–", "–"}
	if target > 0 {
		l.target, l.verdict = "p99 ≤ "+short(target), verdict(p99 <= target)
	}
	t.add(l)
}

// ratio tells how the medians of two sides compare.
func (t *table) ratio(name string, side, other []time.Duration, target float64) {
	a, b := rank(side, 0.5), rank(other, 0.5)
	if b == 0 {
		t.count(name, "not measured")
		return
	}
	times := float64(a) / float64(b)
	t.compared(name, fmt.Sprintf("%s / %s = %.2f×", short(a), short(b), times), times, target)
}

// paired adds the comparison of two sides that were measured in turns, one of each in every round: the
// median of the ratios of all rounds, which a machine that is slower for some of them does not bend.
func (t *table) paired(name string, side, other []time.Duration, target float64) {
	var ratios []float64
	for i := range side {
		ratios = append(ratios, float64(side[i])/float64(other[i]))
	}
	if len(ratios) == 0 {
		t.count(name, "not measured")
		return
	}
	times := rank(ratios, 0.5)
	t.compared(name, fmt.Sprintf("%s / %s, in turns %.2f×", short(rank(side, 0.5)), short(rank(other, 0.5)), times), times, target)
}

func (t *table) compared(name, found string, times, target float64) {
	t.add(line{name, found, fmt.Sprintf("≤ %g×", target), verdict(times <= target)})
}

// sizes adds amounts of memory. A target is for the greatest; 0 for none.
func (t *table) sizes(name string, bytes []int64, target int64) {
	most := rank(bytes, 1)
	l := line{name, fmt.Sprintf("p50 %s  max %s  (%d)", megabytes(rank(bytes, 0.5)), megabytes(most), len(bytes)), "–", "–"}
	if target > 0 {
		l.target, l.verdict = "max ≤ "+megabytes(target), verdict(most <= target)
	}
	t.add(l)
}

// most adds a number with an upper bound.
func (t *table) most(name string, n, bound int) {
	t.add(line{name, fmt.Sprint(n), fmt.Sprintf("≤ %d", bound), verdict(n <= bound)})
	if n > bound {
		t.violation("%s: %d", name, n)
	}
}

func (t *table) add(l line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, l)
}

// violation adds a lost or left thing.
func (t *table) violation(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.violations = append(t.violations, fmt.Sprintf(format, args...))
}

// shown is how many violations are told in full.
const shown = 20

// print prints the results. ended is the reason of an early end, or nil. Without violations until an early
// end, the table says that not all was tried.
func (t *table) print(w io.Writer, ended error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "what\tfound\ttarget\tverdict")
	for _, l := range t.lines {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\n", l.name, l.value, l.target, l.verdict)
	}
	judged := verdict(len(t.violations) == 0)
	if ended != nil && len(t.violations) == 0 {
		judged = "not all was tried"
	}
	fmt.Fprintf(columns, "violations\t%d\t0\t%s\n", len(t.violations), judged)
	columns.Flush()
	if ended != nil {
		fmt.Fprintln(w, "NOT ENDED:", ended)
	}
	for i, v := range t.violations {
		if i == shown {
			fmt.Fprintf(w, "violation: and %d more\n", len(t.violations)-shown)
			return
		}
		fmt.Fprintln(w, "violation:", v)
	}
}

// failure is an error if there are violations. A missed target is no violation.
func (t *table) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.violations) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d", errViolation, len(t.violations))
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "missed"
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// short is a duration in about three digits.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
