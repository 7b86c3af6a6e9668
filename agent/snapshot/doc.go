// Package snapshot is the turn loop's view of the working tree: what changed, what is recorded
// of it, and what is in no snapshot.
package snapshot
