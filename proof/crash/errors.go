package main

import "errors"

var (
	errViolation = errors.New("a promise was broken")
	errFailed    = errors.New("a test failed")
	errSilent    = errors.New("a test said nothing of what it tried")
	errClass     = errors.New("a row is of another class than its test")
	errTooFew    = errors.New("too few points were tried")
	errNothing   = errors.New("there is nothing to run")
)
