// Package gitstore keeps conversations as git commits: each event is one commit on one ref per
// conversation, its message is the text, its tree is the files.
//
// Invariants:
//
//   - An event is acknowledged only after its objects and its ref are durable.
//   - A ref moves only from the head that the writer expected.
//   - Appending reads the newest commit only, listing reads newest commits only.
//   - Nothing but refs/jp/* and <common dir>/jp is ever written: never the
//     user's index, HEAD, branches, files or configuration.
//
// The package trusts no commit: it is an event only if its headers are in git's order, and its message is
// to the byte the one that this package writes for the event in them. A message authentication code, with a
// key that is never in a repository, says whether this user's jp wrote it.
package gitstore
