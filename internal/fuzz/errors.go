package main

import "errors"

var (
	errNoTargets = errors.New("no fuzz targets")
	errBudget    = errors.New("want a duration above zero, or a number of executions as 2000x")
	errFailed    = errors.New("fuzzing found a failure")
	// errInterrupted is the user's or the system's wish, and not the target's fault.
	errInterrupted = errors.New("interrupted")
	// errUntried is a target whose corpus alone takes longer than it was given, so
	// that no input was made.
	errUntried = errors.New("nothing was tried, give more time (make fuzz FUZZTIME=…, -time …)")
)
