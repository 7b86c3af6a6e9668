// Package turnloop runs one turn, from the user's words to its last event.
//
// What to do next is decided by one pure function, [Next], only from the turn's events and the definitions of
// its tools. A driver performs the action, which makes further events durable, and asks again. The events are
// the only state: resuming a turn after a crash is the same loop over the recorded events.
//
// Invariants:
//
//   - An event is durable before anything that depends on it: the request before
//     the model is called, a call's finish before its tools start, a tool's start
//     before the tool, a question before it is asked, a result before it is sent.
//   - A finished result is never lost to an error beside it, and no tool runs
//     again whose response is durable.
//   - A tool runs only on a recorded yes. A question without an answer
//     stays open.
//
// The package is free of git, terminals and vendors: it appends through
// a [conversation.Journal], asks through a [Prompter], and looks at files
// through a [Workspace].
package turnloop
