// Package console is a terminal on which a person goes on typing while jp shows things and asks.
//
// What is written stays above, in the terminal's own scrollback. Below it a few lines change in
// place: the block that the model is writing, what runs, a question, and the line that the person
// edits. One goroutine reads all keys, and one lock orders all that is drawn, so that no typed
// character reaches the text of an answer.
package console
