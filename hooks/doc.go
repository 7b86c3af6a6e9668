// Package hooks is where the user's commands at points of a turn will be run:
// when it starts, before and after a tool, when a question waits, when it ends.
// It has no content yet.
package hooks
