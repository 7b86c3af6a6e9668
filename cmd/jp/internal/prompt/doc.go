// Package prompt puts the questions of a turn to the person at the terminal: may this tool run, may
// its result go to the model, and a tool's own questions.
//
// A yes is a key that was typed while its question stood on the screen. Enter and pastes are no
// answer. Esc and the loss of the terminal leave the question open. An approval shows its subject as
// it is: commands word for word, foreign text without control sequences, and a count of the lines
// without room.
//
// Other packages decide who is asked, record answers and change the files. This one reads the files to
// show the changes of a call.
package prompt
