package turnloop

import (
	"fmt"
	"strings"
)

// A JournalError reports that events could not be recorded. The turn stops. Everything before them is safe.
type JournalError struct {
	Seq int // of the first unrecorded event
	Err error
}

// Error names the event.
func (e *JournalError) Error() string {
	return fmt.Sprintf("event %d was not recorded: %v", e.Seq, e.Err)
}

// Unwrap gives the journal's error.
func (e *JournalError) Unwrap() error { return e.Err }

// A ControlFilesError ends a turn whose tool changed files that decide what git runs, unless a user lets it
// go on. The result of the tool is recorded.
type ControlFilesError struct {
	Tool  string
	Files []string
	Since bool // jp ended before it saw the tool's changes: the files changed since the tool started
}

// Error names the files.
func (e *ControlFilesError) Error() string {
	if e.Since {
		return fmt.Sprintf("files that git obeys changed since %s started: %s", e.Tool, strings.Join(e.Files, ", "))
	}
	return fmt.Sprintf("%s changed files that git obeys: %s", e.Tool, strings.Join(e.Files, ", "))
}

// A DeniedError reports that a hook of the user refused a turn. The turn leaves no record.
type DeniedError struct{ Reason string }

// Error gives the hook's reason.
func (e *DeniedError) Error() string {
	if e.Reason == "" {
		return "a hook denied the turn"
	}
	return "a hook denied the turn: " + e.Reason
}
