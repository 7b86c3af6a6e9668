// Package snapshot is the turn loop's view of the working tree: its changes, their record, and the files
// outside of snapshots.
package snapshot
