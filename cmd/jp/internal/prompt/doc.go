// Package prompt puts the questions of a turn to the person at the terminal: may
// this tool run, may its result go to the model, what does the tool want to
// know.
//
// A yes is a key that was typed while its question stood on the screen. Enter and
// what is pasted choose nothing; Esc leaves the question open; a lost terminal answers
// nothing.
// What is approved is shown as it is: commands word for word, foreign text
// without control sequences, and what is left out for want of room is counted.
//
// The package does not decide who is asked, does not record answers and does not
// touch the files; it reads them to show what a call would change.
package prompt
