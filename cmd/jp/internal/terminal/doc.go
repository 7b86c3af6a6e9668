// Package terminal is jp's view of a terminal: a stream that shows text in a number of columns,
// perhaps in colour, with a person at it, perhaps.
//
// Text that jp did not write itself goes through [Clean] before it is printed, so that it cannot move
// the cursor, set the title, fill the clipboard or reorder its neighbours. Text that a person is asked
// to approve goes through [Escape], which shows every character.
//
// A [TTY] puts questions to a person. It discards keys that were typed before the question appeared,
// and the loss of the terminal is an error, never an answer. The package does not interpret questions,
// and ignores keys without a meaning.
//
// [HTML] renders the same Markdown for a page.
package terminal
