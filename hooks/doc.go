// Package hooks runs the user's commands at points of a turn: when it starts,
// before and after a tool, when a question waits, when it ends.
//
// A hook is a program with its arguments; no shell reads them. It gets one JSON
// object on standard input that says what the point is about, and may write one
// to standard output that says what it decides. What it writes to standard error
// is for the user. It runs in the workspace, in a process group of its own, with
// an environment without keys and without jp's and git's own variables.
//
// What holds:
//
//   - A hook takes away and adds words, it never allows: there is no decision by
//     which a tool runs that would not have run without the hook.
//   - What a hook writes is taken whole or not at all. Anything but the keys of
//     its point, of the right type, is a failure, and so is every end but the
//     exit codes 0 and 2, and a time that is up.
//
// What a failure means is for the caller to say; before a tool, it has to be a
// denial. The package starts what it is told to and nothing else: where the
// commands come from, and whether they may be trusted, is decided elsewhere.
package hooks
