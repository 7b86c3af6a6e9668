// Package console is a terminal on which a person goes on typing while jp shows things and asks.
//
// Output stays above, in the terminal's own scrollback. Below it a few lines change in place: the
// block that the model is writing, the running activity, a question, and the line that the person
// edits. One goroutine reads all keys, and one lock orders all drawing, so that no typed character
// reaches the text of an answer.
package console
