package main

import "errors"

var (
	// errSystem says that the system does not tell the needed facts.
	errSystem = errors.New("soak needs a Linux kernel with /proc")
	// errViolation says that something was lost or left behind.
	errViolation = errors.New("violations")
)
