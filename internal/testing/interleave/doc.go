// Package interleave runs tasks in every order in which their operations can
// follow one another, and kills them between any two: a model checker for code as
// it is, for tests.
//
// A task asks for each operation by [Task.Do] and names the things that it touches. One operation runs at a
// time; [Explore] chooses which, and runs the whole system anew for each choice with a possibly different
// result. Orders that differ only in operations on different things have the same result, and it tries one of
// them: dynamic partial-order reduction with source sets and sleep sets, as Abdulla, Aronis, Jonsson and
// Sagonas describe it (POPL 2014).
//
// Conditions: a new system acts the same under the same choices, and an operation never waits for another
// task. The package is free of files.
package interleave
