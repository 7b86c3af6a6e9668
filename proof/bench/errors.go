package main

import "errors"

var (
	// errAbsent is what a measurement needs and this machine lacks: a note and no
	// failure.
	errAbsent = errors.New("not here")
	// errPartial is a run that ended before its last row.
	errPartial = errors.New("the table is partial")
	// errNotSaved is a file that no run has saved.
	errNotSaved = errors.New("no measurements in the file")
	// errNoSource means that there are no texts to make events of.
	errNoSource = errors.New("the Go tree has no source to make texts of")
	// errFoundNothing is what a search means by exit code 1, if it says no more.
	errFoundNothing = errors.New("exit code 1")
	// errNoPeak is a kernel that does not tell.
	errNoPeak = errors.New("the kernel does not say the peak of memory")
)
