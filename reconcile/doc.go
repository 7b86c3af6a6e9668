// Package reconcile compares the record of a conversation with the repository when an interrupted turn is
// resumed.
//
// It has no side effects: from the events and a [RepoState] that the caller has read it makes a [Plan] —
// whether this is the place where the turn stopped, the class of each open call, and the message to the
// model.
//
// Invariants:
//
//   - A call that was started, may have changed something and has no response
//     is of unknown outcome. Unchanged files are evidence, never
//     permission to run it again.
//   - Names of files and words of tools stand in the message as JSON strings, so
//     that none of them can end the message or forge a part of it.
//   - The same record and the same repository make the same message, byte for byte.
package reconcile
