package reconcile

import (
	"slices"

	"jp/conversation"
)

// A Class is the known state of an open call.
type Class string

// The classes.
const (
	NotStarted Class = "not_started" // it will run now, after its permission as ever
	Repeatable Class = "repeatable"  // it was started, and may run again
	Unknown    Class = "unknown"     // it started, and its outcome is unknown
	Alive      Class = "alive"       // its process still runs
	Waiting    Class = "waiting"     // its question has no answer yet
	Gone       Class = "gone"        // the tool does not exist
	Delegated  Class = "delegated"   // it was started, and works in a conversation of its own
)

// A Call is an open call with its class and the evidence of the files.
type Call struct {
	Call      *conversation.ToolCall
	Class     Class
	Touched   []string // files that it named and that have changed
	Untouched []string // files that it named and that are
	Untold    []string // files that it named, that exist, and for which no snapshot shows a change or its absence
	Absent    []string // the same for absent files
	Delegate  Delegate // for Delegated
}

// classify gives every open call its class: from the record first, and from
// what lives now. The files are evidence only.
func classify(r Record, t RepoState, named func(*conversation.ToolCall) []string) []Call {
	var calls []Call
	for _, call := range r.Ledger.Open() {
		c := Call{Call: call, Class: classOf(call, t), Delegate: t.Delegates[call.Event.Seq]}
		if named != nil {
			for _, path := range named(call) {
				there, unrecorded := t.Unrecorded[path]
				switch {
				case slices.Contains(t.ChangedSince[call.Event.Seq], path):
					c.Touched = append(c.Touched, path)
				case !unrecorded:
					c.Untouched = append(c.Untouched, path)
				case there:
					c.Untold = append(c.Untold, path)
				default:
					c.Absent = append(c.Absent, path)
				}
			}
		}
		calls = append(calls, c)
	}
	return calls
}

func classOf(call *conversation.ToolCall, t RepoState) Class {
	known, there := t.Tools[call.Request.Name]
	switch {
	case t.Alive[call.Event.Seq]:
		return Alive
	case asks(call):
		return Waiting
	case call.Started == nil && !there:
		return Gone
	case call.Started == nil:
		return NotStarted
	case !call.Lost():
		return NotStarted // it asked before it changed anything, and has its answer
	case known.Resumes:
		return Delegated
	case t.Again[call.Event.Seq], there && (known.Reads || known.Idempotent):
		return Repeatable
	}
	return Unknown
}

// asks reports whether a question about the call waits.
func asks(call *conversation.ToolCall) bool {
	for _, q := range call.Inquiries {
		if q.Live() {
			return true
		}
	}
	return false
}

// waitsFor names the missing answer of the user to a call that has not started, "" if there is none.
func waitsFor(call *conversation.ToolCall) string {
	for _, q := range call.Inquiries {
		switch {
		case !q.Live():
		case q.Request.Kind == conversation.KindRunTool:
			return "a permission"
		case q.Request.Kind == conversation.KindToolQuestion:
			return "an answer"
		}
	}
	return ""
}

// Files are sentences about the files that the call named, in the order of how much
// they say; quote writes a list of paths.
func (c Call) Files(quote func(paths []string) string) []string {
	var sentences []string
	for _, kind := range []struct {
		words string
		paths []string
	}{
		{"changed after its start", c.Touched},
		{"had not changed when jp looked", c.Untouched},
		{"were not there when jp looked", c.Absent},
		{"existed when jp looked and were not recorded before, so it is unknown whether it changed them", c.Untold},
	} {
		if len(kind.paths) > 0 {
			sentences = append(sentences, "These files that it named "+kind.words+": "+quote(kind.paths)+".")
		}
	}
	return sentences
}
