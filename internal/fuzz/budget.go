package main

import (
	"strconv"
	"strings"
	"time"
)

// A budget is how long each target runs.
type budget struct {
	text     string        // as go takes it
	duration time.Duration // zero for a number of executions
	count    int           // of executions, zero for a duration
}

func parseBudget(text string) (budget, error) {
	if digits, ok := strings.CutSuffix(text, "x"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n <= 0 {
			return budget{}, errBudget
		}
		return budget{text: text, count: n}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return budget{}, errBudget
	}
	return budget{text: text, duration: d}, nil
}

const (
	// slack is what a target may take beside its time: for its corpus, for a
	// failing input that is made smaller, and for a machine that is busy.
	slack = 3 * time.Minute
	// longest bounds a number of executions.
	longest = time.Hour
)

// What a second try of a target gets at least, after one that was too short for
// its corpus.
const (
	secondTime  = 30 * time.Second
	secondCount = 2_000
)

// longer is what a second try gets.
func (b budget) longer() budget {
	if b.duration == 0 {
		n := max(10*b.count, secondCount)
		return budget{text: strconv.Itoa(n) + "x", count: n}
	}
	d := max(10*b.duration, secondTime)
	return budget{text: d.String(), duration: d}
}

// limit is when a target that still runs has hung.
func (b budget) limit() time.Duration {
	if b.duration == 0 {
		return longest
	}
	return 2*b.duration + slack
}
