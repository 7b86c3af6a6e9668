package main

import "errors"

var (
	errNoTargets = errors.New("no fuzz targets")
	errBudget    = errors.New("want a duration above zero, or a number of executions as 2000x")
	errFailed    = errors.New("fuzzing found a failure")
)
