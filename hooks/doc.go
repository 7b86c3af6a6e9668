// Package hooks runs the user's commands at points of a turn: when it starts,
// before and after a tool, when a question waits, when it ends.
//
// A hook is a program with its arguments; no shell reads them. It gets one JSON object about the point on
// standard input, and may write one with its decision to standard output. Its standard error is for the user.
// It runs in the workspace, in a process group of its own, with an environment without keys and without jp's
// and git's own variables.
//
// Invariants:
//
//   - A hook takes away and adds words, and never allows: no decision can run a
//     tool that would not have run without the hook.
//   - A hook's output counts whole or is an error. Anything but the keys of
//     its point, of the right type, is a failure, and so is every end but the
//     exit codes 0 and 2, and a time that is up.
//
// The caller decides the meaning of a failure. Before a tool, it has to be a denial. The package starts just
// the given commands. Their source, and whether to trust them, is the caller's concern.
package hooks
