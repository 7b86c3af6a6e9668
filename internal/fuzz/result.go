package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A result is what came of one target.
type result struct {
	suite  *suite
	target string
	stats  stats
	took   time.Duration
	output string   // what it said beside its progress
	inputs []string // failing ones that it has written
	err    error    // nil where it found nothing
	late   bool     // go took the end of its time for a failure
	// baseline is how far go came with what is known before it made inputs.
	baseline baseline
}

// A baseline is how many inputs of the corpus were run, and how many there are.
type baseline struct{ done, of int }

func (b baseline) complete() bool { return b.of > 0 && b.done == b.of }

// stats is what go counts while it fuzzes.
type stats struct{ executions, fresh, corpus int }

var (
	progressLine = regexp.MustCompile(`(?m)^fuzz: elapsed: .*$\n?`)
	statsLine    = regexp.MustCompile(`(?m)^fuzz: elapsed: .*execs: (\d+) \(\d+/sec\), new interesting: (\d+) \(total: (\d+)\)`)
	beganLine    = regexp.MustCompile(`(?m)^fuzz: elapsed: .*execs: \d+ `)
	baseLine     = regexp.MustCompile(`(?m)^fuzz: elapsed: .*: (\d+)/(\d+) completed`)
	failureLine  = regexp.MustCompile(`(?m)^--- FAIL: `)
	canceledOnly = regexp.MustCompile(`^--- FAIL: \w+ \([0-9.]+s\)\n    context canceled\nFAIL$`)
	deadlineOnly = regexp.MustCompile(`^--- FAIL: \w+ \([0-9.]+s\)\n    context deadline exceeded\nFAIL$`)
)

// lastStats reads the newest counts, zeros where fuzzing never began.
func lastStats(out string) stats {
	all := statsLine.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return stats{}
	}
	var n [3]int
	for i, digits := range all[len(all)-1][1:] {
		n[i], _ = strconv.Atoi(digits)
	}
	return stats{executions: n[0], fresh: n[1], corpus: n[2]}
}

// lastBaseline reads how far the baseline came. Where executions are counted it
// was complete, whether go said so or not.
func lastBaseline(out string) (b baseline) {
	if all := baseLine.FindAllStringSubmatch(out, -1); len(all) > 0 {
		last := all[len(all)-1]
		b.done, _ = strconv.Atoi(last[1])
		b.of, _ = strconv.Atoi(last[2])
	}
	if beganLine.MatchString(out) {
		b.of = max(b.of, 1)
		b.done = b.of
	}
	return b
}

// unusual is the output without the lines about progress.
func unusual(out string) string {
	return strings.TrimSpace(progressLine.ReplaceAllString(out, ""))
}

// settle takes a deadline for the end that it is, and anything else that went
// wrong, a new file of input too, for a failure.
func (r *result) settle(b budget, out string) {
	switch {
	case r.err == nil && len(r.inputs) > 0:
		r.err = errFailed
	case r.err != nil && len(r.inputs) == 0 && b.duration > 0 && r.took >= b.duration && deadlineOnly.MatchString(unusual(out)):
		r.err, r.late = nil, true
	}
}

func (r result) name() string { return r.suite.short + "." + r.target }

// interrupt takes what ended because it had to for that, unless go reports a
// failure or has written an input before.
func (r *result) interrupt(out string) {
	if len(r.inputs) == 0 && (!failureLine.MatchString(out) || canceledOnly.MatchString(unusual(out))) {
		r.err, r.late = errInterrupted, false
	}
}

func (r result) interrupted() bool { return errors.Is(r.err, errInterrupted) }

func (r result) failed() bool { return r.err != nil && !r.interrupted() }

// untried says that nothing went wrong because nothing was done.
func (r result) untried() bool { return r.err == nil && !r.baseline.complete() }

func (r result) verdict() string {
	switch {
	case r.untried():
		return fmt.Sprintf("nothing tried (%d/%d of its corpus)", r.baseline.done, r.baseline.of)
	case r.interrupted():
		return "interrupted"
	case r.failed():
		return "FAILED"
	case r.late:
		return "ok (go's deadline)"
	case r.stats.executions == 0:
		return "ok (its corpus only)"
	}
	return "ok"
}

func (r result) line() string {
	return fmt.Sprintf("%s: %d executions, %s", r.name(), r.stats.executions, r.verdict())
}
