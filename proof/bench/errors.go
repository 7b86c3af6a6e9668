package main

import "errors"

var (
	// errAbsent means that this machine lacks the needs of a measurement: a note instead of a failure.
	errAbsent = errors.New("not here")
	// errPartial is a run that ended before its last row.
	errPartial = errors.New("the table is partial")
	// errNotSaved is a file that was not saved by a run.
	errNotSaved = errors.New("no measurements in the file")
	// errNoSource means that there are no texts for events.
	errNoSource = errors.New("the Go tree has no source to make texts of")
	// errFoundNothing is the meaning of a search's exit code 1, if it prints no reason.
	errFoundNothing = errors.New("exit code 1")
	// errNoPeak is a kernel that does not tell the peak.
	errNoPeak = errors.New("the kernel does not say the peak of memory")
)
