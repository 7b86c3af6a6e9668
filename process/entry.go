package process

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"jp/conversation"
)

// entryVersion is the form of an entry that this package writes and reads.
const entryVersion = 1

// maxEntry is how many bytes an entry may have.
const maxEntry = 64 << 10

// A Status is the state of a running process.
type Status string

// States of a running process: it works, or it waits for an answer.
const (
	StatusRunning Status = "running"
	StatusWaiting Status = "waiting_for_input"
)

// An Entry describes a process and the conversation that it runs. Put fills in Version, WorkspaceID and
// Repository.
type Entry struct {
	Version        int             `json:"v"`
	ConversationID conversation.ID `json:"conversation_id"`
	PID            int             `json:"pid"`
	Start          string          `json:"start"` // as StartOf tells it
	WorkspaceID    string          `json:"workspace_id"`
	// Repository is the absolute common git directory whose lock says whether the
	// process lives. A copy of a repository has the same workspace id.
	Repository string          `json:"repository"`
	Worktree   string          `json:"worktree,omitempty"` // the absolute root of the working tree, "" for a bare repository
	StartedAt  time.Time       `json:"started_at"`
	Status     Status          `json:"status"`
	Pending    *PendingInquiry `json:"pending_inquiry"` // question that it waits for, or nil
	Attached   bool            `json:"attached"`        // a client follows over the socket
	Detached   bool            `json:"detached"`        // without a terminal
	Log        string          `json:"log"`             // path of its output, or ""
	// Parent is the conversation that the process belongs to, if it runs this one for that one.
	Parent conversation.ID `json:"parent,omitempty"`
}

// A PendingInquiry is an inquiry that waits for its answer.
type PendingInquiry struct {
	Kind       string `json:"kind"`
	ToolName   string `json:"tool_name"`
	AnswerType string `json:"answer_type"`
	Seq        int    `json:"seq"` // the event that asks
}

func (e Entry) encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	if len(text) >= maxEntry {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrBadEntry, maxEntry)
	}
	return append(text, '\n'), nil
}

// decode reads the text of an entry. It ignores unknown fields.
func decode(text []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(text, &e); err != nil {
		return Entry{}, fmt.Errorf("%w: %w; remove it", ErrBadEntry, err)
	}
	return e, e.check()
}

// check reports why an entry is invalid.
func (e Entry) check() error {
	if e.Version != entryVersion {
		return fmt.Errorf("%w: its version is %d, and %d is known", ErrBadEntry, e.Version, entryVersion)
	}
	if _, err := conversation.ParseID(string(e.ConversationID)); err != nil {
		return fmt.Errorf("%w: %w", ErrBadEntry, err)
	}
	if _, err := conversation.ParseID(string(e.Parent)); err != nil && e.Parent != "" {
		return fmt.Errorf("%w: its parent: %w", ErrBadEntry, err)
	}
	if e.PID <= 0 {
		return fmt.Errorf("%w: its pid is %d", ErrBadEntry, e.PID)
	}
	if !filepath.IsAbs(e.Repository) {
		return fmt.Errorf("%w: its repository is %q, not an absolute path", ErrBadEntry, e.Repository)
	}
	return nil
}
