// Package interleave runs tasks in every order in which their operations can
// follow one another, and kills them between any two: a model checker for code as
// it is, for tests.
//
// A task asks for each operation by [Task.Do] and says what it touches. One
// operation runs at a time; [Explore] chooses which, and runs the whole system
// anew for each choice that may come to something else. Orders that differ only
// in operations that touch different things come to the same, and one of them is
// tried: dynamic partial-order reduction with source sets and sleep sets, as
// Abdulla, Aronis, Jonsson and Sagonas describe it (POPL 2014).
//
// What must hold: a system that is made anew does the same under the same
// choices, and an operation never waits for another task. The package knows
// nothing of files.
package interleave
