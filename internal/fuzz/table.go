package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// A table is what came of all targets.
type table struct {
	results []result
	targets int // to be tried
}

func (t *table) add(r result) { t.results = append(t.results, r) }

// print writes the table, and below it all that is known of each failure.
func (t *table) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "target\texecutions\tnew\tcorpus\ttime\tresult")
	var sum stats
	var took time.Duration
	for _, r := range t.results {
		s := r.stats
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\n", r.name(), s.executions, s.fresh, s.corpus, seconds(r.took), r.verdict())
		sum.executions, sum.fresh, sum.corpus = sum.executions+s.executions, sum.fresh+s.fresh, sum.corpus+s.corpus
		took += r.took
	}
	fmt.Fprintf(w, "%d targets\t%d\t%d\t%d\t%s\t%s\n", len(t.results), sum.executions, sum.fresh, sum.corpus, seconds(took), t.verdict())
	w.Flush()
	if tried := t.tried(); tried < t.targets {
		fmt.Fprintf(out, "The table is partial: %d of %d targets were tried.\n", tried, t.targets)
	}
	for _, r := range t.results {
		if r.failed() {
			r.explain(out)
		}
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// explain says what went wrong, where the input lies and how to run it again.
func (r result) explain(out io.Writer) {
	fmt.Fprintf(out, "\n%s: %v\n", r.name(), r.err)
	if r.output != "" {
		fmt.Fprintln(out, r.output)
	}
	for _, file := range r.places() {
		fmt.Fprintln(out, "input:", file)
	}
	fmt.Fprintln(out, "again:", r.again())
}

func (t *table) count(is func(result) bool) (n int) {
	for _, r := range t.results {
		if is(r) {
			n++
		}
	}
	return n
}

// tried counts those that came to their end.
func (t *table) tried() int { return len(t.results) - t.count(result.interrupted) }

// verdict is that of the table's last line.
func (t *table) verdict() string {
	text := fmt.Sprintf("%d failed", t.count(result.failed))
	if n := t.count(result.untried); n > 0 {
		text += fmt.Sprintf(", %d not tried", n)
	}
	return text
}

// failure is what is wrong with the table.
func (t *table) failure() error {
	var errs []error
	if n := t.count(result.failed); n > 0 {
		errs = append(errs, fmt.Errorf("%w: %d of %d targets", errFailed, n, len(t.results)))
	}
	if n := t.count(result.untried); n > 0 {
		errs = append(errs, fmt.Errorf("%w: %d of %d targets", errUntried, n, len(t.results)))
	}
	if n := t.tried(); n < t.targets {
		errs = append(errs, fmt.Errorf("%w: %d of %d targets were tried", errInterrupted, n, t.targets))
	}
	return errors.Join(errs...)
}
