// Package live has the parts of a run that last as long as it: its entry and socket, by which other processes
// see and reach it; the process in the background that a turn moves to; and drafts, texts before they become
// events.
package live
