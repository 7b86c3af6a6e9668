// Package gitstore keeps conversations as git commits: each event is one commit
// on one ref per conversation, its message is what was said, its tree is what
// the files were.
//
// What it keeps:
//
//   - An event is acknowledged only after its objects and its ref are durable.
//   - A ref moves only from the head that the writer expected.
//   - Appending reads the newest commit only, listing reads newest commits only.
//   - Nothing but refs/jp/* and <common dir>/jp is ever written: never the
//     user's index, HEAD, branches, files or configuration.
//
// What is read is not trusted: a commit is an event only if its headers stand
// where git puts them, and its message is to the byte what this package writes
// for the event in them. Whether this user's jp wrote it is said by a message
// authentication code with a key that is never in a repository.
package gitstore
