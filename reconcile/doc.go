// Package reconcile compares what a conversation recorded with what the
// repository says is true, when a turn that was broken off goes on.
//
// It decides and writes nothing: from the events and a [RepoState] that the caller
// has read it makes a [Plan] — whether this is the place where the turn
// stopped, what class each open call has, and what the model has to be told.
//
// What holds:
//
//   - A call that was started, may have changed something and has no response
//     is of unknown outcome. That nothing moved in the files is evidence, never
//     permission to run it again.
//   - Names of files and words of tools stand in the message as JSON strings, so
//     that none of them can end the message or forge a part of it.
//   - The same record and the same truth make the same message, byte for byte.
package reconcile
