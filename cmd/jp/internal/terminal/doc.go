// Package terminal is what a terminal is to jp: something that shows text in a
// number of columns, perhaps in colour, and at which a person may sit.
//
// Text that jp did not write itself goes through [Clean] before it is printed,
// so that it cannot move the cursor, set the title, fill the clipboard or
// reorder what stands beside it. What a person is asked to approve goes through
// [Escape], which hides nothing.
//
// A [TTY] puts questions to a person. It never takes what was typed before a
// question appeared for an answer to it, and never takes the loss of the
// terminal for an answer at all. The package does not know what is asked, and
// never guesses: a key without a meaning is ignored.
package terminal
