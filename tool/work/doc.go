// Package work has the tools by which a model organises its work: it writes down its steps, it gives a task to a child
// that works on it in a conversation of its own, and the child reports its progress.
//
// The package leaves running and storing conversations to a [Runner]. It turns a call's arguments into a
// task, and the child's report into a result.
//
// Invariants:
//
//   - The child is known by the id that the call brings, which is on record
//     before the child begins. A call that is run again resumes that child.
//   - Without an answer the result is an error that gives the reason and the child's
//     last state. Its words are JSON there, so that they cannot
//     pass for words of jp.
package work
